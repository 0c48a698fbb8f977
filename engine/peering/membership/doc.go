// Package membership knows which agents of a crawl are alive. Each agent knows all others, without a coordinator, and
// joins through the address of any other agent.
//
// It is a layer over hashicorp/memberlist, which implements SWIM (Das, Gupta, Motivala 2002) with parts of Lifeguard
// (Dadgar, Phillips, Currey 2018). Each agent probes another agent every ProbeInterval (500 ms). If the other agent
// does not answer within ProbeTimeout (300 ms), three more agents probe it, and the prober tries TCP. Without any
// answer until the end of the interval, it is suspect, and this is gossiped. A suspect agent has SuspicionTimeout (6 s)
// to refute. Then it is dead.
//
// With these times a killed agent is missing from all Views within 10 s (BENCHMARKS.md has the distribution). An agent
// that does not run for 2 s becomes suspect, but not dead. SuspicionTimeout does not depend on the number of agents, as
// it does in memberlist.
//
// # Processes, incarnations, conflicts
//
// For memberlist each start of an agent is a member of its own: it has the agent's ID and a random number as its name.
// The reason: memberlist's incarnation numbers begin at zero with each start. So a restarted agent could be ignored as
// old if it had the same name.
//
// This package orders the processes of one agent by an incarnation number of its own, which the group assigns. A
// process that joins first looks for another living process of its ID:
//
//   - If there is one and it answers, Join fails with ErrNameInUse. No other agent has seen the new process in a View.
//   - If there is one and it is dead, the new process takes the next incarnation and replaces it, at any address.
//   - A process at the same address as the new one is dead, since the new one has the address now.
//
// If two processes of one ID meet later, after a partition, the one with the higher incarnation remains. Lost of the
// other one is closed.
//
// An incarnation that ended never comes back. Each agent knows the last ended incarnation of each ID, sends it to each
// agent that joins, and ignores messages of ended incarnations. So recorded messages of a dead process have no effect.
// An agent that was declared dead but is alive gets a message about it, and takes the next incarnation.
//
// # Partitions
//
// Each side declares the other side dead, and continues. Then it tries to reach it again: at the addresses of the
// seeds, and for 24 hours at the addresses of dead agents (memberlist forgets them). About eight agents of a side try
// in each RejoinInterval (5 s). One success is enough. The sides are joined again within seconds, at most 60 s. If only
// one direction fails, the agent that is not heard is dead for the others. Views may then differ until the fault ends.
//
// # Sources of facts
//
// All facts come from memberlist's delegates, from its configuration callbacks, and from the transport below it.
// Memberlist's log lines are passed on as debug messages and are never parsed.
//
//   - Wrong gossip key: the transport checks the encryption of each packet and of each stream before memberlist does.
//     It drops and counts what no key opens. Packets that are encrypted although this agent has no key are not
//     recognized; streams are.
//   - Unreachable agent (View.Suspected): memberlist asks DisableTcpPingsForNode after an unanswered UDP ping, and then
//     dials. The agent is unreachable if the dialled stream brings no answer either. Answers through other agents are
//     not seen. So an agent that only this agent cannot reach is listed too.
//   - Refutation: an agent that cannot reach another one sends it a suspicion message. The other one then exchanges its
//     full state with a member, in case memberlist's queue lost the refutation (see TestQueue_losesMessages).
//
// # Promises
//
//   - M1: a View never changes. It contains this agent, is sorted by ID, has no ID twice, and its Serial grows with
//     each change of its agents.
//   - M2: a killed agent is missing from all Views within 10 s. An agent that does not run for 2 s stays in all Views.
//   - M3: of two living processes with one ID at most one remains a member.
//   - M4: after a partition all Views are equal again within 60 s.
//   - M5: an agent of another crawl, or without the gossip key, enters no View. The refusal is counted, and logged
//     once.
//   - M6: a message of an ended incarnation changes no View, however often it is sent again.
//   - M7: an agent that leaves is reported as left, not as dead, by all remaining agents.
//
// Not promised: that two agents have equal Views at the same moment. After a stop of all agents, recorded messages of
// the earlier run can add a dead agent to Views, until probes of it fail.
//
// # Limits and ownership
//
// A Service remembers at most 4,096 processes and as many ended incarnations. It refuses further processes, and forgets
// the ended incarnation of the agent that has been absent longest. An incoming stream may bring 1 MiB. At most 128
// streams are open, 32 from one source. Wall clock times are never sent or compared between agents. With a Key all
// messages are encrypted (AES-256-GCM). Options are copied; a View and its slices belong to all readers and must not be
// changed.
package membership
