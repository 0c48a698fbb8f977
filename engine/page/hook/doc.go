// Package hook asks programs of the user: about pages (--hook page=CMD), which brings links and counts, about hosts
// (--hook host=CMD), which may block a host, limit its pages or postpone it, and about links (--hook link=CMD), which
// may drop some, and give scores.
//
//	parse worker   Hook.Ask         a page -> references that the program has found
//	parse worker   Hosts.AskAfter   a page -> a rule for its host, if it is time to ask about the host
//	parse worker   Links.Judge      the links of a page -> the places of those to drop, and scores
//	started.write                   frames for the program: one goroutine, which flushes when no page waits
//	started.read                    answers of the program: one goroutine, which gives each to the Ask with its id
//
// The program reads frames from its standard input, and writes frames to its standard output. docs/hooks.md describes
// them. A page is with the program until it is answered; at most Options.Parallel are.
//
// The page is asked about before it is stored. So the links of its answer stand in its journal entry, beside those of
// early hints, and a replay does not ask again. The rule of an answer about a host stands there, too; the next
// checkpoint writes it to the file of host rules. What was dropped of the links, and their scores, stand in the
// capture, so a replay and a rebuild from the archive have the same.
//
// What the program does wrong costs the answer and nothing else. It is killed and started again if it ends, writes
// something else than answers, or gives no answer for Options.Timeout. The waits before a start are 1, 2, 4, ... 60
// seconds, until it answers. Pages that come in the first second wait for it, and later ones are stored without an
// answer. A page that was with a program that ended is asked about once more.
package hook
