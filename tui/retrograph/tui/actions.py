"""THE table of actions: everything that a key, the palette or a hint can do.

An action's id is public: `scope.name`. The user's key map names it, the help and the palette list
it. The scope says who does it: `app`, a screen, or a kind of widget; the owner has a method
`action_<scope>_<name>` (dashes become underscores). Keys are Textual's, separated by commas; a
comma, a space or an arrow is spelt out (`comma`, `space`, `left`).
"""

from __future__ import annotations

from typing import NamedTuple


class Action(NamedTuple):
    """One thing that can be done."""

    id: str
    keys: str
    """In the map `default`; "" where it has none (the palette reaches it)."""
    title: str
    """What it does, in a few words that begin with a verb."""
    help: str
    """One sentence more: when it serves, what to expect."""
    hint: str = ""
    """The word for it at the bottom of the screen; "" where it is not hinted at."""
    vim: str | None = None
    """Keys in the map `vim`, where they differ."""

    @property
    def scope(self) -> str:
        return self.id.partition(".")[0]

    @property
    def name(self) -> str:
        """Of the method, without its `action_`."""
        return self.id.replace(".", "_").replace("-", "_")


SCOPES = {
    "move": "Moving",
    "threads": "Threads",
    "tree": "History",
    "thread": "Thread",
    "state": "State",
    "value": "A value",
    "diff": "Diff",
    "messages": "Messages",
    "reader": "Reading",
    "prompt": "Typing",
    "dialog": "A box",
    "app": "Everywhere",
}
"""The scopes with their titles, in the order of the help."""

ACTIONS: tuple[Action, ...] = (
    # What every list can do.
    Action("move.down", "j,down", "Move down", "One row; held, it loads only where it stops."),
    Action("move.up", "k,up", "Move up", "One row."),
    Action(
        "move.page-down",
        "pagedown",
        "Page down",
        "As many rows as are in sight, less one.",
        vim="pagedown,ctrl+f",
    ),
    Action(
        "move.page-up",
        "pageup",
        "Page up",
        "As many rows as are in sight, less one.",
        vim="pageup,ctrl+b",
    ),
    Action(
        "move.half-down",
        "ctrl+d",
        "Half a page down",
        "Keeps half of what is in sight.",
    ),
    Action(
        "move.half-up",
        "ctrl+u",
        "Half a page up",
        "Keeps half of what is in sight.",
    ),
    Action("move.top", "g,home", "Go to the first row", "The oldest, in the history."),
    Action("move.bottom", "G,end", "Go to the last row", "The newest, in the history."),
    # The history of a thread.
    Action(
        "tree.open",
        "enter",
        "Look inside",
        "Goes to the inspector of the selected checkpoint; opens a folded row.",
        hint="inspect",
    ),
    Action(
        "tree.parent",
        "left",
        "Go to the parent",
        "On an open sub-graph it is closed first.",
        vim="h,left",
    ),
    Action(
        "tree.child",
        "right",
        "Go to the child",
        "The one on the straight line; a closed sub-graph or fold is opened first.",
        vim="l,right",
    ),
    Action(
        "tree.next-line",
        "right_square_bracket",
        "Go to the next line",
        "At a fork point or inside a branch: the same place of the next line beside it.",
        hint="line",
    ),
    Action(
        "tree.previous-line",
        "left_square_bracket",
        "Go to the line before",
        "At a fork point or inside a branch: the same place of the line beside it.",
    ),
    Action(
        "tree.next-fork",
        "o",
        "Go to the next fork point",
        "Where several lines part, downward.",
        hint="fork point",
    ),
    Action("tree.previous-fork", "O", "Go to the fork point before", "Upward."),
    Action(
        "tree.next-question",
        "i",
        "Go to the next question",
        "An interrupt that is open or was answered. Reads what has not been read yet.",
        hint="question",
    ),
    Action("tree.previous-question", "I", "Go to the question before", "Upward."),
    Action(
        "tree.next-error",
        "e",
        "Go to the next error",
        "A step whose node failed. Reads what has not been read yet.",
        hint="error",
    ),
    Action("tree.previous-error", "E", "Go to the error before", "Upward."),
    Action("tree.head", "full_stop", "Go to the head", "The newest checkpoint of the thread."),
    Action(
        "tree.jump",
        "colon",
        "Go to a checkpoint",
        "By the end of its id, or by its step.",
        hint="go to",
    ),
    Action(
        "tree.fold",
        "space",
        "Open or close",
        "The sub-graph or the folded run under the cursor.",
    ),
    Action(
        "tree.fold-runs",
        "c",
        "Fold long runs",
        "Each long run of steps without a fork becomes one row; once more unfolds them all.",
        hint="fold",
    ),
    Action(
        "tree.mark",
        "m",
        "Mark",
        "Remembers the checkpoint; the Diff tab can compare with it. Once more takes it off.",
        hint="mark",
    ),
    Action("tree.next-mark", "apostrophe", "Go to the next mark", "Round and round."),
    Action(
        "tree.search",
        "slash",
        "Search the history",
        "Finds text in the rows: nodes, routes, channels, marks.",
        hint="search",
    ),
    Action("tree.next-match", "n", "Go to the next match", "Of the last search."),
    Action("tree.previous-match", "N", "Go to the match before", "Of the last search."),
    # The screen of one thread.
    Action("thread.tab-state", "1", "Show the state", "The values, as a tree."),
    Action("thread.tab-diff", "2,d", "Show the diff", "Against the parent, or the mark."),
    Action("thread.tab-messages", "3", "Show the messages", "The conversation."),
    Action("thread.tab-writes", "4", "Show the writes", "What each task wrote in this step."),
    Action("thread.tab-graph", "5", "Show the graph", "Nodes and the routes between them."),
    Action("thread.tab-info", "6", "Show the details", "Ids, versions, metadata, sizes."),
    Action(
        "thread.next-tab",
        "tab",
        "Next pane",
        "From the history to the inspector and back.",
        hint="pane",
    ),
    Action(
        "thread.zoom",
        "z",
        "Zoom",
        "Gives the focused pane the whole screen; once more gives it back.",
        hint="zoom",
    ),
    Action("thread.wider", "greater_than_sign", "Widen the history", "By four columns."),
    Action("thread.narrower", "less_than_sign", "Narrow the history", "By four columns."),
    Action(
        "thread.reload",
        "ctrl+r",
        "Read again",
        "Looks for checkpoints written since; the cursor stays where it is.",
    ),
    # The list of threads.
    Action(
        "threads.open",
        "enter,right",
        "Open the thread",
        "Shows its history.",
        hint="open",
        vim="enter,l,right",
    ),
    Action(
        "threads.filter",
        "slash",
        "Filter the threads",
        "By words: status:interrupted node:approve user_id=42 since:1h text.",
        hint="filter",
    ),
    Action(
        "threads.sort",
        "s",
        "Sort otherwise",
        "By activity, by checkpoints, by name; of what has been read so far.",
        hint="sort",
    ),
    Action("threads.reload", "ctrl+r", "Read again", "Looks for threads written since."),
    # The value tree.
    Action(
        "state.expand",
        "right",
        "Expand",
        "Shows what is inside; on an open row goes in.",
        hint="expand",
        vim="l,right",
    ),
    Action(
        "state.collapse",
        "left",
        "Collapse",
        "Hides what is inside; on a closed row goes out.",
        vim="h,left",
    ),
    Action("state.toggle", "space", "Expand or collapse", "The row under the cursor."),
    Action(
        "state.read",
        "enter",
        "Read",
        "Opens a long text on the whole screen; expands other rows.",
        hint="read",
    ),
    Action("state.deeper", "plus", "Expand a level more", "Everywhere at once."),
    Action("state.shallower", "minus", "Collapse a level", "Everywhere at once."),
    Action(
        "value.history",
        "b",
        "Show the value's history",
        "Who set it, and what it was before; each is a jump.",
        hint="history",
    ),
    Action(
        "value.pager",
        "p",
        "Open in the pager",
        "Hands the value to $PAGER, text as it is and anything else as JSON.",
    ),
    # The diff.
    Action(
        "diff.sides",
        "s",
        "Side by side",
        "The old values left, the new ones right; once more for one column.",
        hint="side by side",
    ),
    Action(
        "diff.against",
        "a",
        "Compare with the next",
        "Against the parent, the mark, or what was chosen.",
        hint="against",
    ),
    Action(
        "diff.choose",
        "v",
        "Compare with any checkpoint",
        "By step:3, the end of an id, ~2, root or head; the right arrow completes.",
        hint="with",
    ),
    Action(
        "diff.unfold", "enter,space", "Unfold, or read", "A fold opens; a long text opens whole."
    ),
    Action(
        "diff.all",
        "c",
        "Show what is the same",
        "Or only the changes.",
        hint="all",
    ),
    Action("diff.next", "n", "Go to the next change", "Downward."),
    Action("diff.previous", "N", "Go to the change before", "Upward."),
    # The conversation.
    Action("messages.unfold", "enter,space", "Unfold, or fold", "The message under the cursor."),
    Action("messages.unfold-all", "c", "Unfold all", "Or fold them all again.", hint="unfold"),
    Action(
        "messages.markdown",
        "m",
        "Show as Markdown",
        "The texts with their headings, lists and code; once more as they are.",
        hint="Markdown",
    ),
    Action("messages.read", "r", "Read", "The message on the whole screen.", hint="read"),
    Action(
        "messages.channel",
        "s",
        "Next conversation",
        "Where several channels hold messages.",
    ),
    # A line to type in.
    Action("prompt.accept", "enter", "Accept", "Takes what was typed.", hint="accept"),
    Action("prompt.leave", "escape", "Leave", "Goes back to how it was.", hint="leave"),
    # A box over the screen.
    Action("dialog.close", "escape,q", "Close", "Goes back to what is below.", hint="close"),
    Action("dialog.pick", "enter", "Pick", "Does what the selected row says.", hint="pick"),
    # A long text.
    Action(
        "reader.pager",
        "p",
        "Open in the pager",
        "Hands the text to $PAGER, and comes back when it ends.",
        hint="pager",
    ),
    Action(
        "reader.markdown",
        "m",
        "Show as Markdown",
        "With headings, lists and code; once more as it is.",
        hint="Markdown",
    ),
    Action("reader.wrap", "w", "Wrap lines", "Or shows them as they are.", hint="wrap"),
    # Everywhere.
    Action(
        "app.back",
        "escape,backspace",
        "Back",
        "Stops what is being read, closes what is open, or goes one screen back.",
        hint="back",
    ),
    Action("app.copy", "y", "Copy", "The selected thing, in one of several forms.", hint="copy"),
    Action("app.palette", "ctrl+p", "Find an action", "Everything that can be done here."),
    Action("app.theme", "T", "Next theme", "Dark, light, the terminal's own, high contrast."),
    Action(
        "app.screenshot",
        "S",
        "Save a picture",
        "The screen as an SVG file in the current folder.",
    ),
    Action("app.log", "ctrl+l", "Show the log", "What was done, each with its command."),
    Action("app.help", "question_mark", "Help", "The keys of the focused pane.", hint="help"),
    Action("app.quit", "q,ctrl+q", "Quit", "Leaves; nothing was written.", hint="quit"),
)

BY_ID = {action.id: action for action in ACTIONS}


def in_scopes(*scopes: str) -> tuple[Action, ...]:
    """The actions of some scopes, in the order of the table."""
    return tuple(action for action in ACTIONS if action.scope in scopes)
