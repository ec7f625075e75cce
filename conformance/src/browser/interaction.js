// Runs in a world of its own, where nothing of the page can reach it: does to every element what a reader
// could do, and says what the page names that a browser may load or go to.
async () => {
  const pause = (time) => new Promise((done) => setTimeout(done, time));
  const elements = () => [...document.querySelectorAll("html, body, body *")].slice(0, 60);
  const bare = (address) => address.split("#")[0];
  const web = (address) => /^(https?|mailto):/.test(address);
  const named = {
    images: [...document.images].map((image) => bare(image.src)).filter(web),
    links: [...document.links].map((link) => bare(link.href)).filter(web),
  };
  const bubbling = { bubbles: true, cancelable: true };
  for (const element of elements()) {
    for (const type of ["pointerover", "pointerenter", "mouseover", "mouseenter", "mousemove", "mousedown", "mouseup"]) {
      element.dispatchEvent(new MouseEvent(type, bubbling));
    }
    for (const type of ["keydown", "keyup", "copy", "animationstart", "toggle"]) {
      element.dispatchEvent(new Event(type, bubbling));
    }
    element.focus?.();
    element.blur?.();
  }
  for (const element of elements()) {
    if (element.click) element.click();
    else element.dispatchEvent(new MouseEvent("click", bubbling));
    await pause(0);
  }
  await pause(5);
  const middles = elements().map((element) => {
    const box = element.getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  });
  return { ...named, middles: middles.filter(({ x, y }) => x > 0 && y > 0 && x < innerWidth && y < innerHeight).slice(0, 4) };
}
