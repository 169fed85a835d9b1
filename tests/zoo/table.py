"""The table of scenarios: the name is the function in `zoo.graphs.<module>` and the thread id."""

from typing import NamedTuple


class Scenario(NamedTuple):
    """One real graph (or a few of one kind) and what is done with it."""

    name: str
    module: str
    shows: str
    dies: bool = False
    """It ends its process, so it begins in one of its own."""
    asynchronous: bool = False
    """It needs an asynchronous saver."""


SCENARIOS = (
    Scenario("loop", "flow", "a conditional loop"),
    Scenario("branch", "flow", "a router with two branches, each taken once"),
    Scenario("join", "flow", "a join whose parts arrive at different steps"),
    Scenario("join_loop", "flow", "a join in a loop, two turns"),
    Scenario("race", "flow", "joins corrupted by asynchronous saving"),
    Scenario("deferred", "flow", "a deferred node in a loop"),
    Scenario("deferred_join", "flow", "a deferred join in a loop"),
    Scenario("sends", "flow", "Sends with a router after them, and none sent"),
    Scenario("mixed_sends", "flow", "Sends beside an edge, large payloads"),
    Scenario("sends_given", "flow", "a Command with Sends as input, while others are pending"),
    Scenario("siblings", "flow", "routers that decide on what a node beside theirs changes"),
    Scenario("commands", "flow", "Command goto: one, several, a Send, END"),
    Scenario("ends", "flow", "no edges, routers to END and from START, Command beside an edge"),
    Scenario("limit", "flow", "recursion limit hit, resumed, new input in the middle"),
    Scenario("two_deep", "nested", "sub-graphs two deep with a question, two turns"),
    Scenario("called", "nested", "sub-graphs called inside node functions"),
    Scenario("stateful", "nested", "a sub-graph with a memory of its own, in a loop"),
    Scenario("to_parent", "nested", "Command.PARENT"),
    Scenario("like_names", "nested", "parent and parent_two, both with sub-graphs"),
    Scenario("sent", "nested", "one sub-graph sent to three times"),
    Scenario("sub_fails", "nested", "an error inside a sub-graph, mended"),
    Scenario("one_question", "questions", "a dynamic interrupt, open and answered"),
    Scenario("two_in_a_node", "questions", "two questions in one node"),
    Scenario("parallel_questions", "questions", "two parallel nodes with two questions each"),
    Scenario("one_of_each", "questions", "one done, one failed, one asking in a step"),
    Scenario("static", "questions", "interrupt_before and interrupt_after"),
    Scenario("resume_with", "questions", "Command with resume, update and goto"),
    Scenario("asked_below", "questions", "questions in parallel sub-graphs"),
    Scenario("error", "failures", "a node that raises; mended; new input after it"),
    Scenario("error_beside", "failures", "an error with siblings finished or not"),
    Scenario("retry", "failures", "a retry policy that succeeds"),
    Scenario("handler", "failures", "error handlers of nodes"),
    Scenario("cached", "failures", "nodes whose output comes from a cache"),
    Scenario("killed", "failures", "a process killed inside a node", dies=True),
    Scenario("killed_beside", "failures", "killed in a sub-graph, a sibling done", dies=True),
    Scenario("functional", "functional", "entrypoint and tasks with previous"),
    Scenario("functional_final", "functional", "entrypoint.final"),
    Scenario("functional_asks", "functional", "a question in an entrypoint"),
    Scenario("functional_fails", "functional", "a failing task"),
    Scenario("functional_killed", "functional", "killed in an entrypoint", dies=True),
    Scenario("pydantic_state", "state", "a Pydantic model as state"),
    Scenario("dataclass_state", "state", "a dataclass as state"),
    Scenario("values", "state", "values of every type"),
    Scenario("delta", "state", "DeltaChannels with snapshots, forks and overwrites"),
    Scenario("channels", "state", "ephemeral, untracked, topic and private channels"),
    Scenario("schemas", "state", "input and output schemas; Overwrite"),
    Scenario("messages", "chat", "a chat of three turns; messages removed"),
    Scenario("agent", "chat", "a prebuilt agent with parallel tools, two turns"),
    Scenario("agent_v1", "chat", "a prebuilt agent whose tools run in one node"),
    Scenario("mended", "travel", "a router whose code changes between two runs"),
    Scenario("fork_update", "travel", "update_state at old checkpoints"),
    Scenario("update_head", "travel", "update_state at heads and on a new thread"),
    Scenario("update_as", "travel", "as_node: copy, input, start, END; bulk updates"),
    Scenario("update_parallel", "travel", "updates after parallel nodes"),
    Scenario("replay", "travel", "replays, twice at one checkpoint"),
    Scenario("new_input", "travel", "new input at old checkpoints"),
    Scenario("answer_again", "travel", "a question answered on several lines"),
    Scenario("travel_below", "travel", "replay and edit around and inside a sub-graph"),
    Scenario("travel_stateful", "travel", "replay around a stateful sub-graph"),
    Scenario("names", "odd", "node names like parts of channel names"),
    Scenario("prefixes", "odd", "joins whose parts contain +"),
    Scenario("exit_only", "odd", "durability exit"),
    Scenario("configured", "odd", "metadata from the config; thread ids of every shape"),
    Scenario("chance", "chance", "graphs and histories drawn by lot"),
    Scenario("asynchronous", "odd", "AsyncSqliteSaver", asynchronous=True),
)
