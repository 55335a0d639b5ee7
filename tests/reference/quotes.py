"""Quotes in texts, one character at a time."""

VANISHING = "\u200b\ufeff\u00ad"
PLAIN = {**dict.fromkeys("\u2018\u2019", "'"), **dict.fromkeys("\u201c\u201d", '"')}
PLAIN |= dict.fromkeys("\u2013\u2014\u2011\u2212", "-")


def normalised(text, ignore):
    """Return the characters that are compared, each with the position in the text that it comes from."""
    found = []
    for position, given in enumerate(text):
        char = given
        if "whitespace" in ignore and char in VANISHING:
            continue
        if "punctuation" in ignore:
            char = PLAIN.get(char, char)
        if "whitespace" in ignore and char.isspace():
            char = " "
            if not found:
                continue
            if found[-1][0] == " ":
                del found[-1]
        found += [(part, position) for part in (char.casefold() if "case" in ignore else char)]
    if "whitespace" in ignore and found and found[-1][0] == " ":
        del found[-1]
    return found


def occurs(pattern, chars, at):
    return len(chars) - at >= len(pattern) and all(chars[at + n][0] == c for n, c in enumerate(pattern))


def places(text, quote, ignore):
    """Return the different spans (start, length) of a quote in a text, in order."""
    chars, pattern = normalised(text, ignore), [char for char, _ in normalised(quote, ignore)]
    found = []
    for at in range(len(chars)):
        if occurs(pattern, chars, at):
            start, last = chars[at][1], chars[at + len(pattern) - 1][1]
            if (start, last - start + 1) not in found:
                found.append((start, last - start + 1))
    return found


def longest_prefix(texts, quote, ignore):
    """Return length in the quote, document and start of the longest prefix that occurs; 0 without any."""
    of_quote = normalised(quote, ignore)
    for size in range(len(of_quote), 0, -1):
        for doc_id, text in texts.items():
            chars = normalised(text, ignore)
            for at in range(len(chars)):
                if occurs([char for char, _ in of_quote[:size]], chars, at):
                    return of_quote[size - 1][1] + 1, doc_id, chars[at][1]
    return 0, None, -1
