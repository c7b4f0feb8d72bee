"""Calls tools with the arguments of sloppy.json, as assistants and people write them, and judges what comes back.

    python3 tests/usefulness/sloppy.py --mcp URL --data DIR [--verbose]

Each case is either answered as a careful person would read it, or refused with an example that is accepted: examples are
taken from the message and tried. Prints the cases that are neither, and a line per class with the number of verdicts:
  answered    the result agrees with SQL over the CSV files for the reading
  refused     the message has an example, and the tool accepts it
  unhelpful   the message has none
  misleads    the result is another than that of the reading, or of what has no reading, or nothing echoes the reading
Exits with 1 if any case is unhelpful or misleads, or if there are fewer than 300.

A class of cases has
  tool, argument, with   what is called; `with` has further arguments
  cases     pairs of a value and its reading. A reading is the list of values that stand in for `{}` in `sql`, or null if
            there is none. Without `argument`, the value is an object of arguments.
  sql       gives what `pointer` (default /total) must be; a profile may give the reading as a candidate instead
  echo      a pattern that the notes must match if the case is answered; `{}` is the value
  notes     a pattern; if the notes match it, what has no reading is answered well enough, too
  codes     `true`: the reading is the least that the country codes in the notes must contain, which `sql` is given
  names     `true`: the value is an object whose argument does not exist, so the message must name one that does
"""

import collections
import json
import pathlib
import re
import sys

from client import Mcp, Refused, options_of
from run import Missing, pointed
from truth import Truth

CLASSES = pathlib.Path(__file__).parent / "sloppy.json"
VERDICTS = ["answered", "refused", "unhelpful", "misleads"]
LEAST_CASES = 300
MAX_TRIES = 12


def examples(message):
    """What a message offers: quoted values, and lists after words that announce them."""
    found = [quoted for quotes in re.findall(r'`([^`]+)`|"([^"]+)"|(\{[^{}]*\})', message) for quoted in quotes if quoted]
    for listed in re.findall(r"(?:e\.g\.|examples?|such as|did you mean|accepted|one of|like)[: ]+([^\n;]+)", message, re.IGNORECASE):
        found += [part.strip(" .?()`\"'") for part in re.split(r",| or | and ", listed)]
        found.append(listed.strip(" .?()`\"'"))
    return list(dict.fromkeys(example for example in found if example))


def accepts(mcp, case, example):
    """Whether the tool accepts the example for the argument, as the arguments, or as `name=value` instead of them."""
    try:
        value = json.loads(example)
    except ValueError:
        value = example
    attempts = [value] if isinstance(value, dict) else []
    if re.fullmatch(r"\w+=[^&]+(&\w+=[^&]+)*", example):
        attempts.append({**case["with"], **dict(pair.split("=", 1) for pair in example.split("&"))})
    if case["argument"]:
        attempts.append({**case["with"], case["argument"]: value})
        attempts.append({**case["with"], case["argument"]: example})
    else:
        attempts += [{**case["arguments"], name: example} for name in case["value"]]
    for arguments in attempts:
        try:
            mcp.call(case["tool"], arguments)
            return True
        except Refused:
            pass
    return False


def helps(mcp, schemas, case, message):
    if case.get("names"):
        accepted = set(schemas[case["tool"]]) - set(case["value"])
        return any(re.search(rf"\b{name}\b", message) for name in accepted)
    given = case["value"] if isinstance(case["value"], str) else json.dumps(case["value"])
    offered = [example for example in examples(message) if example != given]
    return any(accepts(mcp, case, example) for example in offered[:MAX_TRIES])


def wanted(truth, case, codes):
    values = codes if case.get("codes") else case["reading"]
    sql = case["sql"].format(", ".join("?" * len(values)))
    rows = truth.rows(sql, values if "{}" in case["sql"] else [])
    return rows[0][0]


def judge(mcp, truth, schemas, case):
    try:
        result = mcp.call(case["tool"], case["arguments"])
    except Refused as error:
        message = str(error)
        return ("refused" if helps(mcp, schemas, case, message) else "unhelpful"), message
    notes = " ".join(result.get("notes", []))
    if "notes" in case and re.search(case["notes"], notes, re.IGNORECASE):
        return "answered", notes
    if case["reading"] is None:
        return "misleads", f"answered, notes: {notes}"
    if "echo" in case:
        pattern = case["echo"].replace("{}", re.escape(str(case["value"])))
        if not re.search(pattern, notes, re.IGNORECASE):
            return "misleads", f"nothing echoes the reading /{pattern}/: {notes}"
    codes = re.findall(r"\b[A-Z]{2}\b", notes)
    if case.get("codes") and not set(case["reading"]) <= set(codes):
        return "misleads", f"the notes do not name {case['reading']}: {notes}"
    if "sql" in case:
        try:
            found = pointed([result], "/0" + case.get("pointer", "/total"))
        except Missing as error:
            is_offered = any(candidate["slug"] in case["reading"] for candidate in result.get("candidates", []))
            return ("answered" if is_offered else "misleads"), str(error)
        right = wanted(truth, case, codes)
        if found != right:
            return "misleads", f"{found} instead of {right}; notes: {notes}"
    return "answered", notes


def cases(kind):
    """The cases of a class, each with the arguments of its call."""
    for value, reading in kind["cases"]:
        argument = kind.get("argument")
        with_ = kind.get("with", {})
        arguments = {**with_, argument: value} if argument else {**with_, **value}
        yield {**kind, "argument": argument, "with": with_, "value": value, "reading": reading, "arguments": arguments}


def main():
    options = options_of(__doc__, "only the classes whose name contains this text", "print every case")
    mcp, truth = Mcp(options.mcp), Truth(options.data)
    schemas = {tool["name"]: tool["inputSchema"].get("properties", {}) for tool in mcp.request("tools/list")["tools"]}
    counts, total = {}, collections.Counter()
    for kind in json.loads(CLASSES.read_text()):
        if options.only and options.only not in kind["class"]:
            continue
        count = counts.setdefault(kind["class"], collections.Counter())
        for case in cases(kind):
            verdict, reason = judge(mcp, truth, schemas, case)
            count[verdict] += 1
            total[verdict] += 1
            if options.verbose or verdict in ("unhelpful", "misleads"):
                called = json.dumps(case["arguments"], ensure_ascii=False)
                print(f"{verdict:9} {case['tool']} {called}\n          " + reason[:400].replace("\n", "\n          "))
    print(f"\n{'class':32}" + "".join(f"{verdict:>11}" for verdict in VERDICTS))
    for name, count in [*counts.items(), ("all", total)]:
        print(f"{name:32}" + "".join(f"{count[verdict]:11}" for verdict in VERDICTS))
    enough = options.only or total.total() >= LEAST_CASES
    sys.exit(0 if enough and not total["unhelpful"] and not total["misleads"] else 1)


if __name__ == "__main__":
    main()
