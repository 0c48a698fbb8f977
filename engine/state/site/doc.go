// Package site defines what the engine knows about one site (scheme, host and port; a "visit state" in BUbiNG) and its
// encoded form.
//
// State has four parts:
//
//   - the robots.txt rules and when to fetch them again (robots.go); equal rules are shared through a RulesPool;
//   - the addresses of the host name, and when the name must be resolved again (addrs.go);
//   - counters: stored pages, consecutive failures, robots.txt attempts, slowdown of the host delay;
//   - the current streak of failures, empty for a healthy site. failurestreak.go says what one failure changes in it,
//     failures.go what an answer changes and which probe is next. The reasons are in
//     docs/adr/0032-a-passing-fault-never-costs-a-queue.md.
//
// Ownership: the workbench stores one State for each site and never reads it. A Visit carries a copy. Only the holder
// of the Visit changes the copy, and the release of the Visit writes it back. A State is not safe for concurrent use; a
// RulesPool is.
//
// Append and Decode convert a State to and from bytes for checkpoints, cold hosts and handoffs. The format is in
// docs/formats.md. Decode reads the versions 2 to 5 and returns an error for anything else.
package site
