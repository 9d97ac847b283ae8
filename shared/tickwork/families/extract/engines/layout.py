"""Where things stand on a page, turned into an order to read them in: lines, columns and tables."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from tickwork.families.extract.engines.grids import Grid, Rule, grids_of
from tickwork.families.extract.engines.lines import Item, Line, Table, Word, joined, lines_of

# In sizes of the type: what is left of a gap between columns over many rows, and how far below the row above it the
# next one of a table may stand.
GUTTER, REACH = 0.6, 2.5

# More items than this stand beside each other in no row that is read, and so many rows are looked at in vain: each
# looks at those below it, and a page that was made for it would take the square of its size.
MAX_IN_ROW, MAX_LOOKAHEAD = 60, 5_000

Row = list[Item]
Gap = tuple[float, float]
# Of each cell of a row, its pieces of text.
Cells = list[list[str]]


def arranged(words: Iterable[Word], rules: Sequence[Rule]) -> list[Item]:
    """The lines and tables of a page, in reading order."""
    grids = grids_of(rules)
    if not grids:
        return _ordered(lines_of(words))
    inside: dict[int, list[Word]] = {}
    outside: list[Word] = []
    for word in words:
        at = next((index for index, grid in enumerate(grids) if grid.holds(word)), None)
        (outside if at is None else inside.setdefault(at, [])).append(word)
    tables = [_ruled(grids[at], held) for at, held in inside.items()]
    return _ordered([*lines_of(outside), *tables])


def _ruled(grid: Grid, words: Sequence[Word]) -> Table:
    rows: list[Cells] = [[[] for _ in grid.columns] for _ in grid.rows]
    for word in words:
        row, column = grid.cell_of(word)
        rows[row][column].append(word.text)
    filled = [row for row in rows if any(row)]
    return Table(_texts(filled), grid.x0, grid.y0, grid.x1, grid.y1)


def _ordered(items: Sequence[Item]) -> list[Item]:
    rows = _rows(items)
    out: list[Item] = []
    at = in_vain = 0
    while at < len(rows):
        end, gaps = _run(rows, at) if in_vain < MAX_LOOKAHEAD else (at + 1, [])
        block, reach = rows[at:end], end - at
        if gaps and (parts := _columns(block, gaps)):
            for part in parts:
                out += _ordered(part)
        elif gaps and (table := _aligned(rows[at : (end := _end_of_table(rows, at, end))], gaps)):
            out.append(table)
        else:
            # Only the first row: those after it may make a block of their own.
            in_vain += reach
            end = at + 1
            out += _on_one_line(rows[at])
        at = end
    return out


def _rows(items: Sequence[Item]) -> list[Row]:
    rows: list[Row] = []
    for item in sorted(items, key=lambda each: (each.y0 + min(each.y1 - each.y0, each.size) / 2, each.x0)):
        if rows and len(rows[-1]) < MAX_IN_ROW and _stands_beside(item, rows[-1]):
            rows[-1].append(item)
        else:
            rows.append([item])
    for row in rows:
        row.sort(key=lambda each: each.x0)
    return rows


def _stands_beside(item: Item, row: Row) -> bool:
    first = row[0]
    overlap = min(item.y1, first.y1) - max(item.y0, first.y0)
    is_level = overlap > 0.3 * min(item.y1 - item.y0, first.y1 - first.y0)
    # Loose boxes of letters touch.
    return is_level and all(item.x0 >= each.x1 - 1 or item.x1 <= each.x0 + 1 for each in row)


def _run(rows: Sequence[Row], start: int) -> tuple[int, list[Gap]]:
    """How far down the rows from here have a gap in common, and the gaps that all of them have."""
    gaps = [(a.x1, b.x0) for a, b in pairwise(rows[start])]
    if not gaps:
        return start + 1, []
    end = start + 1
    while end < len(rows):
        above, row = rows[end - 1], rows[end]
        size = max(row[0].size, 4.0)
        if _distance(above, row) > REACH * size:
            break
        left = [piece for gap in gaps for piece in _freed(gap, row) if piece[1] - piece[0] >= GUTTER * size]
        # Four rows have shown where the columns are; what runs across them is no part of it.
        if not left or (len(left) < len(gaps) and end - start >= 4):
            break
        gaps = left
        end += 1
    return end, gaps


def _freed(gap: Gap, row: Row) -> list[Gap]:
    """What of a gap the items of a row leave open."""
    pieces = [gap]
    for item in row:
        pieces = [
            piece for a, b in pieces for piece in ((a, min(b, item.x0)), (max(a, item.x1), b)) if piece[0] < piece[1]
        ]
        if item.x0 <= gap[0] and item.x1 >= gap[1]:
            return []
    # An item inside the gap splits it in two; between the same two columns, one of them is enough.
    return [max(pieces, key=lambda each: each[1] - each[0])] if pieces else []


def _columns(block: Sequence[Row], gaps: Sequence[Gap]) -> list[list[Item]] | None:
    """The columns of running text, or nothing if this is none: lines are long and reach the column's edge."""
    parts: list[list[Item]] = [[] for _ in range(len(gaps) + 1)]
    for row in block:
        for item in row:
            parts[_column_of(item, gaps)].append(item)
    if len(block) < 3 or len(parts) > 4:
        return None
    return parts if all(_is_prose(part) for part in parts) else None


def _is_prose(part: Sequence[Item]) -> bool:
    lines = [item for item in part if isinstance(item, Line)]
    if len(lines) < 3:
        return False
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    counts = [line.text.count(" ") + 1 for line in lines]
    full = sum(1 for line, count in zip(lines, counts, strict=True) if line.x1 - line.x0 > 0.7 * width and count > 2)
    return sum(counts) / len(lines) >= 3 and full >= 0.5 * len(lines)


def _end_of_table(rows: Sequence[Row], start: int, end: int) -> int:
    """Without the lines below it, which leave its gaps free because they are short."""
    while end > start + 1 and len(rows[end - 1]) < 2 and not _is_close(rows[end - 2], rows[end - 1]):
        end -= 1
    return end


def _is_close(above: Row, row: Row) -> bool:
    return _distance(above, row) < 0.3 * max(row[0].size, 4.0)


def _aligned(block: Sequence[Row], gaps: Sequence[Gap]) -> Table | None:
    several = [row for row in block if len(row) > 1]
    if len(several) < (2 if len(gaps) > 1 else 3) or any(isinstance(item, Table) for row in block for item in row):
        return None
    rows = [_cells(row, gaps) for row in block]
    usual = _usual_distance(block, rows)
    merged = rows[:1]
    for (above, row), cells in zip(pairwise(block), rows[1:], strict=True):
        # The second line of a cell stands closer to the first than rows do to each other.
        if not cells[0] and _distance(above, row) < usual - 0.15 * row[0].size:
            for cell, more in zip(merged[-1], cells, strict=True):
                cell += more
        else:
            merged.append(cells)
    return Table(_texts(merged), *_around([item for row in block for item in row]))


def _cells(row: Row, gaps: Sequence[Gap]) -> Cells:
    cells: Cells = [[] for _ in range(len(gaps) + 1)]
    for item in row:
        if isinstance(item, Line):
            cells[_column_of(item, gaps)].append(item.text)
    return cells


def _texts(rows: Iterable[Cells]) -> list[list[str]]:
    return [[joined(cell) for cell in row] for row in rows]


def _usual_distance(block: Sequence[Row], rows: Sequence[Cells]) -> float:
    pairs = zip(pairwise(block), pairwise(rows), strict=True)
    distances = sorted(_distance(*places) for places, (above, below) in pairs if above[0] and below[0])
    return distances[len(distances) // 2] if distances else float("-inf")


def _distance(above: Row, row: Row) -> float:
    return min(each.y0 for each in row) - max(each.y1 for each in above)


def _around(items: Sequence[Item]) -> tuple[float, float, float, float]:
    return (
        min(item.x0 for item in items),
        min(item.y0 for item in items),
        max(item.x1 for item in items),
        max(item.y1 for item in items),
    )


def _column_of(item: Item, gaps: Sequence[Gap]) -> int:
    middle = (item.x0 + item.x1) / 2
    return sum(1 for a, b in gaps if middle > (a + b) / 2)


def _on_one_line(row: Row) -> list[Item]:
    out: list[Item] = []
    for item in row:
        last = out[-1] if out else None
        if isinstance(item, Line) and isinstance(last, Line) and not last.words[-1].endswith("\n"):
            last.words += item.words
            last.x1, last.is_bold = item.x1, last.is_bold and item.is_bold
            last.size = max(last.size, item.size)
        else:
            out.append(item)
    return out
