// Package judge compares a crawl of a simulated web with the truth: coverage, repeated requests, politeness,
// robots.txt, and the payloads in the archives.
//
// It shares no code with the crawler: an error that both made would not be found.
//
//	Expected: the model, breadth first from the seeds -> Truth: a Class for each URL
//	Judge:    log -> judge.arrival -> judge.politeness, judge.gaps --+
//	          archives -> judge.archive: class, digest, copies ------+-> judge.sum -> Verdict
//
// Classes. Page: stored with status 200 and the payload's digest. Cut: the same, larger than a body limit. Attempt:
// asked for, never a page (404, redirects, permanent faults). Optional: may be asked for (redirect loops). Denied:
// robots.txt forbids it. NoHost: its host has no address.
//
// Only where the client ended an exchange does the server learn the end late; there Promise.Slack is granted. Of a
// guest (package guest) only politeness is judged.
//
// A Truth is read only. It takes some 50 bytes for a URL.
package judge
