// Every body that is like a given one but for one thing: a member of another type. How many of them are refused tells how much a document
// is worth.
export function* spoilt(body) {
  for (const name of Object.keys(body)) {
    const value = body[name];
    const isPlain = value === null || typeof value !== 'object';
    const others = [isPlain || Array.isArray(value) ? { spoilt: [true] } : 42, ...(isPlain ? [] : spoilt(value))];
    for (const other of others) yield Object.assign(Array.isArray(body) ? [...body] : { ...body }, { [name]: other });
  }
}
