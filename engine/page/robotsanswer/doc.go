// Package robotsanswer decides what follows from the answer to a request for a robots.txt: its rules hold, everything
// is allowed, or it is not known. While it is not known, everything is disallowed, and it is asked for again (RFC 9309,
// section 2.3.1.4). docs/robots.md has the table; TestTable_ofTheDocs holds each of its rows.
//
//	Of        fetch.Page -> Facts -> Decide -> Verdict, Fault, body
//	Decide    the one function that decides, from the facts of an exchange
//	Chains    in an archive: which answers are those of redirected files
package robotsanswer
