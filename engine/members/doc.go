// Package members says who is alive: each agent of a crawl knows all the others, without a coordinator, and joins by the address of any.
//
// Underneath is hashicorp/memberlist: SWIM (Das, Gupta, Motivala 2002) with some of Lifeguard (Dadgar, Phillips, Currey 2018). Each agent
// probes one other each Probe (500 ms); who does not answer within Answer (300 ms) is asked by three others and over TCP; who has answered
// nobody by the end of Probe is suspected, the suspicion is told to all, and the suspect has Patience (6 s) to say that it lives. Then it is
// dead for everybody. With these times
//
//   - an agent that is killed is gone from all Views within 10 s (BENCHMARKS.md has the distribution),
//   - an agent that is not scheduled for 2 s is suspected and not taken for dead: what bears with a stall is Patience and not Answer, which
//     only decides how often there is a suspicion to refute,
//   - who has been asked too late itself becomes slower to suspect others (Lifeguard's local health, at most threefold),
//   - Patience does not depend on the size of the group, as it does in memberlist.
//
// # Names
//
// Every start of an agent is a process of its own to memberlist, whose own numbers of incarnation begin anew with each start: under one
// name, agents get lost when many restart at a time. The order among the processes of one ID is the term, which the group gives. Who comes
// asks first whether a process of its ID lives elsewhere. If that answers, Join fails with ErrName, and nobody else has seen the newcomer;
// if it has died, the newcomer begins the next term and takes its place at once, at whatever address. A process at the newcomer's own
// address is dead: the address is ours. If two of one ID are found later, when two groups meet that grew apart, the one with the later term
// stays, and the other's Lost is closed.
//
// A term that has ended does not begin again. Every agent knows the last ended term of each ID, tells it to who joins, and does not listen
// to what is said in it: the words of an agent that has died may be played back for ever. An agent that was taken for dead and is not, after
// a partition say, is told so and begins the next term by itself. Agent.Incarnation is the caller's own and decides nothing here.
//
// # Partitions
//
// Each side takes the other for dead, and goes on. Then it looks for it: at the addresses of the seeds, and for a day at those where agents
// died (memberlist forgets its dead). About eight agents of a side try in each Seek (5 s); one that is reached is enough, and the sides are one
// again within seconds, at most 60 s. While a way is cut in one direction only, the agent that cannot be heard is dead to the
// others, and the rest depends on what it hears: the Views need not be equal while the fault lasts.
//
// # Promises
//
// A View never changes, holds this agent itself, is in the order of the IDs and has no two alike; its Serial grows with each change.
// Times of the wall clock are sent to nobody and compared with nothing. With a Key all is encrypted (AES-256-GCM), and who has none or
// another is refused, counted, and said once in the log. SetKeys changes the key while the agents run. Agents of another crawl are refused, by name.
//
// What is not promised: that two agents have the same View at the same moment; and after all agents have been stopped and started, what was
// recorded before can be played back: it makes a ghost until the probes of it fail.
package members
