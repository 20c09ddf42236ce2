"""One readable message for all that is wrong with an entry of a model: place, what was given, what is allowed."""

from __future__ import annotations

import difflib
import types
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from nearfield.entry.toml_lines import line_of

MOST_LINES = 12
Location = tuple[int | str, ...]


def readable(error: ValidationError, model: type[Any], given: Any, where: str = "", text: str = "") -> str:
    """The message for a failed validation of `model` with the input `given`; `where` opens it (a class or a file).

    text: the model file that the input was read from, for numbers of lines.
    """
    messages: dict[str, list[str]] = {}
    aside: dict[str, str] = {}  # of each place: its entry's name and line
    for item in of_best_branches(error.errors(include_url=False), given):
        way = way_of(item, given)
        messages.setdefault(place := place_text(way), []).append(explain(item, model))
        aside[place] = name_and_line(way, given, text)
    lines = [
        f"{place}{aside[place]}: {sentence(found)}" if place else sentence(found)
        for place, found in innermost(messages)
    ]
    return joined(where or model.__name__, lines)


def name_and_line(way: Location, given: Any, text: str) -> str:
    """` ('patch', line 31)`: how the nearest entry with a name on a way is called, and where the file has it."""
    name = None
    for part, here in zip(way, are_entries(way, given)):
        given = given[part] if here else None
        if isinstance(part, int) and isinstance(given, dict) and isinstance(given.get("name"), str):
            name = shown(given["name"])
    line = line_of(way, text) if text else None
    found = [*([name] if name else []), *([f"line {line}"] if line else [])]
    return f" ({', '.join(found)})" if found else ""


def joined(where: str, lines: list[str]) -> str:
    """One message of several complaints about an entry or a file, the first of them where there are many."""
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"and {len(lines) - MOST_LINES} more"]
    return f"{where}: {lines[0]}" if len(lines) == 1 else f"{where}:\n  " + "\n  ".join(lines)


def are_entries(location: Iterable[int | str], given: Any) -> list[bool]:
    """Whether each part of a location is an entry of the input; the others are tags of unions, or what is missing."""
    found = []
    for part in location:
        listed = isinstance(given, (list, tuple)) and isinstance(part, int) and part < len(given)
        found.append(listed or (isinstance(given, dict) and part in given))
        given = given[part] if found[-1] else given
    return found


def way_of(item: Any, given: Any) -> Location:
    """The entries of the input on the way to an error, without the tags of unions."""
    shown_parts = are_entries(item["loc"], given)
    if item["type"] == "missing":
        shown_parts[-1] = True
    return tuple(part for part, here in zip(item["loc"], shown_parts) if here)


def place_text(parts: Iterable[int | str]) -> str:
    """`structures[0].shape.lower`: a way through tables and lists."""
    named = (f"[{part}]" if isinstance(part, int) else f".{str(part)[:60]}" for part in parts)
    return "".join(named).removeprefix(".")


def of_best_branches(errors: Sequence[Any], given: Any) -> list[Any]:
    """The errors, of each union only of the branch that the input fits best; of all branches that know all its keys."""
    misfits: dict[Location, dict[int | str, Counter[str]]] = {}  # by the place of a union and its branch

    def tags_of(item: Any) -> list[tuple[Location, int | str]]:
        location = item["loc"][:-1] if item["type"] == "missing" else item["loc"]
        here = are_entries(location, given)
        return [(location[:n], part) for n, part in enumerate(location) if not here[n]]

    for item in errors:
        for place, tag in tags_of(item):
            found = misfits.setdefault(place, {}).setdefault(tag, Counter())
            found["type"] += len(item["loc"]) == len(place) + 1 and item["type"] != "missing"
            found["keys"] += item["type"] in ("extra_forbidden", "missing")

    def fits(place: Location, tag: int | str) -> bool:
        scores = {tag: (found["type"], found["keys"]) for tag, found in misfits[place].items()}
        best = min(scores, key=lambda tag: scores[tag])
        return tag == best or (scores[tag] == scores[best] and not scores[tag][1])

    return [item for item in errors if all(fits(*tag) for tag in tags_of(item))]


def innermost(messages: dict[str, list[str]]) -> list[tuple[str, list[str]]]:
    """Drop what a union says about its other branches: a complaint on an entry that has complaints inside it."""
    places = tuple(messages)
    return [
        (place, found)
        for place, found in messages.items()
        if not place or not any(other.startswith((f"{place}.", f"{place}[")) for other in places)
    ]


def sentence(found: list[str]) -> str:
    """The branches of a union refuse one value each in its own words: one sentence of them."""
    if len(found) > 1 and all(message.startswith("given ") and "; needs " in message for message in found):
        given = found[0].split("; needs ")[0]
        return f"{given}; needs {' or '.join(dict.fromkeys(message.split('; needs ', 1)[1] for message in found))}"
    return "; or ".join(dict.fromkeys(found))


def explain(item: Any, model: type[Any]) -> str:
    """The error at one place and the values that are allowed there."""
    match item["type"]:
        case "extra_forbidden":
            return unknown("key", str(item["loc"][-1]), known_keys(model, item["loc"][:-1]))
        case "missing":
            return "missing; it has no default"
        case "union_tag_invalid":
            allowed = item["ctx"]["expected_tags"].replace("'", "").split(", ")
            return unknown("kind", str(item["ctx"]["tag"]), allowed)
        case "union_tag_not_found":
            allowed = ", ".join(tags(model, item["loc"]))
            return f"given {shown(item['input'])}; needs an entry with one of the kinds {allowed}"
        case "value_error" | "assertion_error":
            return str(item["msg"]).removeprefix("Value error, ")
        case "literal_error":
            return f"given {shown(item['input'])}; allowed: {item['ctx']['expected']}"
        case "model_type" | "model_attributes_type" | "dict_type":
            name = item.get("ctx", {}).get("class_name", "")
            if len(item["loc"]) == 1 and isinstance(item["input"], list):
                table = item["loc"][0]
                return f"is given as a list, but stands once: in a model file [{table}], not [[{table}]]"
            return f"given {shown(item['input'])}; needs {f'the keys of {name}' if name else 'a table of keys'}"
        case "tuple_type" | "list_type":
            if len(item["loc"]) == 1 and isinstance(item["input"], dict):
                return f"needs a list: in a model file each of them opens with [[{item['loc'][0]}]], in two brackets"
            return f"given {shown(item['input'])}; needs a list"
        case "string_pattern_mismatch" | "string_too_short" | "string_too_long":
            return f"given {shown(item['input'])}; needs 1 to 80 characters without / and control characters"
        case "too_short":
            return f"given {shown(item['input'])}; needs {item['ctx']['min_length']} or more entries"
        case "string_type":
            return f"given {shown(item['input'])}; needs a string"
    return f"{item['msg'][:1].lower()}{item['msg'][1:]}, given {shown(item['input'])}"


def unknown(what: str, name: str, allowed: Iterable[str]) -> str:
    """An unknown name with its nearest neighbour."""
    allowed = sorted(set(allowed))
    near = difflib.get_close_matches(name[:60], allowed, n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]}?" if near else "; remove it or correct its spelling."
    return (
        f"unknown {what} {shown(name)}{hint} Allowed: {', '.join(allowed)}"
        if allowed
        else f"unknown {what} {shown(name)}{hint}"
    )


def shown(value: Any) -> str:
    """The value as a message may quote it: short, and never an error of its own."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # integers of thousands of digits, nesting without end
        return f"a {type(value).__name__} too large to print"
    return text if len(text) <= 60 else text[:57] + "..."


def branches(annotation: Any) -> list[Any]:
    """The members of a union, an annotated type or a plain type."""
    if get_origin(annotation) is Annotated:
        return branches(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [branch for member in get_args(annotation) for branch in branches(member)]
    return [annotation]


def kind_of(annotation: Any) -> str | None:
    """The tag that tells this member of a union apart."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and "kind" in annotation.model_fields:
        return str(annotation.model_fields["kind"].default)
    return None


def candidates(model: Any, location: Location) -> list[Any]:
    """The types that may stand at a place of the model."""
    current = [model]
    for part in location:
        following: list[Any] = []
        for annotation in current:
            fields = getattr(annotation, "model_fields", {})
            if isinstance(part, int) or get_origin(annotation) is dict:
                items = [item for item in get_args(annotation) if item is not Ellipsis]
                following += [branch for item in items[-1:] for branch in branches(item)]
            elif part in fields:
                following += branches(fields[part].annotation)
        tagged = [branch for branch in current if part in (kind_of(branch), getattr(branch, "__name__", ""))]
        current = tagged or following or current
    return current


def known_keys(model: type[Any], location: Location) -> list[str]:
    """The keys that the entry at a place may have."""
    return [key for annotation in candidates(model, location) for key in getattr(annotation, "model_fields", {})]


def tags(model: type[Any], location: Location) -> list[str]:
    """The kinds that the entry at a place may have."""
    return [tag for annotation in candidates(model, location) if (tag := kind_of(annotation))]
