"""PTX as text: the kernels of a file, their instructions, and what must not be among them."""

from __future__ import annotations

import re
from dataclasses import dataclass

LINE = re.compile(r"(?:@(!?)(%p\d+)\s+)?([a-z][\w.:]*)\s*(.*);$")
OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+")
HALF = re.compile(r"\{\s*\.reg \.b32 tmp;\s*(mov\.b64 \{.*?\}, .*?;)\s*\}")  # as compilers before 13.1 write it
REGISTERS = re.compile(r"\.reg \.(\w+)\s+(%\w+?)<\d+>")
ENTRY = re.compile(r"\.entry (\w+)\((.*?)\)(.*?)\{\n(.*?)\n\}\n", re.DOTALL)
SHARED = re.compile(r"\.shared .*?(\w+)\[\d*\];")
ROUNDED = ("add", "sub", "mul")  # `.rn` forbids the assembler to contract them; without it, it may


class Fault(AssertionError):
    """What a kernel must not do, and where."""


@dataclass(frozen=True)
class Instruction:
    """One line. `parts`: of the name, as ("ld", "global", "v4", "f32"); `guard`: the predicate it depends on."""

    line: int
    guard: str
    negated: bool
    parts: tuple[str, ...]
    operands: tuple[str, ...]

    @property
    def name(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True)
class Entry:
    """A kernel. `labels`: number of the instruction after each; `registers`: type by the prefix of their names."""

    name: str
    instructions: tuple[Instruction, ...]
    labels: dict[str, int]
    registers: dict[str, str]
    symbols: frozenset[str]  # names that stand for address 0: of the argument and of the block's memory


def entries(text: str) -> dict[str, Entry]:
    """The kernels of a file of PTX, by name. Error: one holds what may be contracted or does not flush."""
    text = re.sub(r"//.*", "", text)
    text = HALF.sub(lambda half: half[1].replace("tmp", "_"), text)
    found, shared = {}, SHARED.findall(text)
    for match in ENTRY.finditer(text):
        entry = _entry(match[1], match[4], text.count("\n", 0, match.start(4)) + 1, shared)
        refuse_other_bits(entry)
        found[entry.name] = entry
    return found


def _entry(name: str, body: str, first: int, shared: list[str]) -> Entry:
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    for number, line in enumerate((each.strip() for each in body.splitlines()), first):
        if line.endswith(":"):
            labels[line[:-1]] = len(instructions)
        elif line and not line.startswith("."):
            match = LINE.match(line)
            if not match:
                raise NotImplementedError(f"{name} line {number}: {line}")
            operands = tuple(OPERAND.findall(match[4]))
            parts = tuple(match[3].split("."))
            instructions.append(Instruction(number, match[2] or "", match[1] == "!", parts, operands))
    registers = {prefix: kind for kind, prefix in REGISTERS.findall(body)}
    return Entry(name, tuple(instructions), labels, registers, frozenset({f"{name}_param_0", *shared}))


def refuse_other_bits(entry: Entry) -> None:
    """Fused multiply-adds, arithmetic that the assembler may fuse, and single precision that keeps denormals."""
    for each in entry.instructions:
        operation, kind = each.parts[0], each.parts[-1]
        if kind not in ("f32", "f64"):
            continue
        where = f"{entry.name} line {each.line}: {each.name}"
        if operation in ("fma", "mad"):
            raise Fault(f"{where} is contracted")
        if operation in ROUNDED and "rn" not in each.parts:
            raise Fault(f"{where} may be contracted by the assembler")
        if operation in ROUNDED and kind == "f32" and "ftz" not in each.parts:
            raise Fault(f"{where} keeps denormals")
