"""Makes en.txt, de.txt and fr.txt from the unpacked source packages vaderSentiment 3.3.2, textblob-de 0.4.3 and
textblob-fr 0.2.0. Run: python3 extract.py FOLDER, the folder that holds the three.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

HERE = pathlib.Path(__file__).parent


def write(language, words):
    lines = (f"{word} {words[word]:g}\n" for word in sorted(words))
    (HERE / f"{language}.txt").write_text("".join(lines), encoding="utf-8")


def vader(path):
    words = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        word, mean = line.split("\t")[:2]
        word = word.lower()
        # single words only: signs and phrases are no words of an answer
        if re.fullmatch(r"[^\W\d_]+(['’-][^\W\d_]+)*", word):
            words[word] = round(float(mean), 1)
    return words


def polarity(path):
    values = {}
    for entry in ET.parse(path).getroot().iter("word"):
        word = (entry.get("form") or "").lower().replace("_", " ")
        if word and " " not in word:
            values.setdefault(word, []).append(float(entry.get("polarity")))
    means = {word: sum(list_) / len(list_) for word, list_ in values.items()}
    return {word: round(3 * mean, 1) for word, mean in means.items() if abs(mean) >= 0.05}


def main():
    folder = pathlib.Path(sys.argv[1])
    write("en", vader(folder / "vaderSentiment-3.3.2/vaderSentiment/vader_lexicon.txt"))
    write("de", polarity(folder / "textblob-de-0.4.3/textblob_de/data/de-sentiment.xml"))
    write("fr", polarity(folder / "textblob-fr-0.2.0/textblob_fr/fr-sentiment.xml"))


main()
