"""Asks the questions of questions.json and compares the answers with those computed from the CSV files.

    python3 tests/usefulness/run.py --mcp URL --data DIR [--only TEXT] [--verbose]

The URL serves the dataset in DIR. Most questions are about the real data; those with `"data": "invented"` are about the
bundled data. Prints a line per question (right, wrong or not answered, and the number of calls) and the totals. Exits
with 1 if fewer than 95 % of the questions are right, any is wrong, or the median question takes more than one call.

A question has
  calls   what an assistant would do: a tool with arguments, or a method with params. An argument `$/0/items/0/slug` is a
          pointer into the results so far. `"pages": true` follows `next_cursor` to the end.
  answer  a pointer into the results, or several: then the answer has a row of their values. Besides names and indexes,
          `*` takes every item of a list, and `name=value` the first item that has the value.
  truth   SQL over the CSV files (truth.py) that gives what `answer` must be; or a value that no data changes, such as null
  as      `value` (the default without `*`), `list` (the default with it), `set` (in any order), `includes` (at least these),
          `top` (the first ones, in this order), or `absent` (none of these)
  within  the relative difference a number may have, such as 0.01
  says    patterns, all of which the notes of the last result must match. `{0}` is the first number or name that
          `says_sql` gives, `{0:,}` for it with commas. With `in`, a pointer, they are matched against what is there.
  refused `true` if the question needs an answer first, such as which of several: a refusal may match `says` instead
"""

import collections
import json
import pathlib
import re
import statistics
import sys

from client import Mcp, Refused, options_of
from truth import Truth

QUESTIONS = pathlib.Path(__file__).parent / "questions.json"
MAX_PAGES = 20
RIGHT_PERCENT = 95


class Missing(Exception):
    """The result does not have what the rule points at."""


def at(value, steps):
    """The value at the steps of a pointer."""
    for index, step in enumerate(steps):
        if step == "*":
            if not isinstance(value, list):
                raise Missing("no list")
            return [at(item, steps[index + 1:]) for item in value]
        name, is_match, wanted = step.partition("=")
        if is_match:
            matching = [item for item in value if str(item.get(name)) == wanted]
            if not matching:
                raise Missing(f"no item with {step}")
            value = matching[0]
        elif isinstance(value, list) and re.fullmatch(r"-?\d+", step) and -len(value) <= int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            raise Missing(f"no `{step}` at /{'/'.join(steps[:index])}")
    return value


def pointed(results, pointer):
    return at(results, pointer.split("/")[1:])


def answer_of(results, rule):
    if isinstance(rule, str):
        return pointed(results, rule)
    columns = [pointed(results, pointer) for pointer in rule]
    if all("*" in pointer for pointer in rule):
        return [list(row) for row in zip(*columns, strict=True)]
    return columns


def complete(results, rule):
    """Whether the lists that a rule reads whole hold all that matched."""
    for pointer in [rule] if isinstance(rule, str) else rule:
        index, key, *rest = pointer.split("/")[1:]
        if key == "items" and "*" in rest and len(results[int(index)]["items"]) < results[int(index)]["total"]:
            return False
    return True


def make(mcp, question):
    """The results of a question's calls."""
    results = []
    for call in question["calls"]:
        if "method" in call:
            results.append(mcp.request(call["method"], call.get("params")))
            continue
        arguments = {
            name: pointed(results, value[1:]) if isinstance(value, str) and value.startswith("$/") else value
            for name, value in call["arguments"].items()
        }
        result = mcp.call(call["tool"], arguments)
        cursor, pages = result.get("next_cursor"), 1
        while call.get("pages") and cursor and pages < MAX_PAGES:
            page = mcp.call(call["tool"], {**arguments, "cursor": cursor})
            result["items"] += page["items"]
            cursor, pages = page.get("next_cursor"), pages + 1
        results.append(result)
    return results


def expected(truth, question, shape):
    sql = question["truth"]
    if not isinstance(sql, str):
        return sql
    rows = truth.rows(sql)
    if shape == "value":
        assert len(rows) == 1, f"{question['question']}: {len(rows)} rows"
        return rows[0] if len(rows[0]) > 1 else rows[0][0]
    assert rows, f"{question['question']}: the truth is empty"
    return rows if len(rows[0]) > 1 else [row[0] for row in rows]


def same(found, wanted, within):
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(same(a, b, within) for a, b in zip(found, wanted))
    if isinstance(found, bool):
        # SQLite has no booleans: 1 and 0 stand for them.
        return wanted is not None and found == bool(wanted)
    if isinstance(found, (int, float)) and isinstance(wanted, (int, float)):
        # Amounts are whole dollars: their mean and median are rounded.
        return abs(found - wanted) <= max(within * abs(wanted), 1 if isinstance(wanted, float) and wanted > 1000 else 1e-9)
    return found == wanted


def agrees(found, wanted, shape, within):
    if shape in ("value", "list"):
        return same(found, wanted, within)
    if shape == "top":
        return same(found[:len(wanted)], wanted, within)
    texts, wanted_texts = ({json.dumps(item) for item in items} for items in (found, wanted))
    if shape == "set":
        return texts == wanted_texts and len(found) == len(wanted)
    return wanted_texts <= texts if shape == "includes" else not wanted_texts & texts


def judge(mcp, truth, question):
    """The verdict and its reason."""
    refusal = None
    try:
        results = make(mcp, question)
    except Refused as error:
        if not question.get("refused"):
            raise
        results, refusal = [], str(error)
    if "answer" in question:
        rule = question["answer"]
        many = "*" in rule or isinstance(rule, list) and any("*" in pointer for pointer in rule)
        shape = question.get("as", "list" if many else "value")
        found, wanted = answer_of(results, rule), expected(truth, question, shape)
        if shape in ("list", "set") and not complete(results, rule):
            return "not answered", "the result is incomplete"
        if not agrees(found, wanted, shape, question.get("within", 0)):
            return "wrong", f"{json.dumps(found, ensure_ascii=False)[:300]} instead of {json.dumps(wanted, ensure_ascii=False)[:300]}"
    if "says" in question:
        numbers = truth.rows(question["says_sql"])[0] if "says_sql" in question else []
        if refusal is not None:
            source = refusal
        else:
            source = pointed(results, question["in"]) if "in" in question else results[-1].get("notes", [])
        text = source if isinstance(source, str) else json.dumps(source, ensure_ascii=False)
        for pattern in question["says"]:
            pattern = pattern.format(*numbers)
            if not re.search(pattern, text, re.IGNORECASE):
                return "wrong", f"nothing says /{pattern}/: {text[:300]}"
    return "right", ""


def asked(mcp, truth, question):
    mcp.calls = 0
    try:
        verdict, reason = judge(mcp, truth, question)
    except (Refused, Missing) as error:
        verdict, reason = "not answered", str(error)
    return verdict, mcp.calls, reason


def main():
    options = options_of(__doc__, "ask only the questions that contain this text", "give the reason of what is not answered, too")
    mcp, truth = Mcp(options.mcp), Truth(options.data)
    data = "invented" if truth.invented else "real"
    questions = [question for question in json.loads(QUESTIONS.read_text()) if question.get("data", "real") == data]
    if options.only:
        questions = [question for question in questions if options.only.lower() in question["question"].lower()]

    verdicts, calls = collections.Counter(), []
    for question in questions:
        verdict, count, reason = asked(mcp, truth, question)
        verdicts[verdict] += 1
        calls.append(count)
        print(f"{verdict:12} {count} {question['question']}")
        if reason and (verdict == "wrong" or options.verbose):
            print(f"             {reason}".replace("\n", "\n             "))
    median = statistics.median(calls)
    print(f"\n{verdicts['right']} right, {verdicts['wrong']} wrong, {verdicts['not answered']} not answered "
          f"of {len(questions)}; {sum(calls)} calls, {median:g} for the median question")
    enough = verdicts["right"] * 100 >= RIGHT_PERCENT * len(questions)
    sys.exit(0 if enough and not verdicts["wrong"] and median <= 1 else 1)


if __name__ == "__main__":
    main()
