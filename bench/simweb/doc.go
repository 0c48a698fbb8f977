// Package simweb is a simulated web with ground truth: it serves pages, keeps a log from the server's side, and judges
// a crawl by both.
//
// It is not a copy of the real web, and it shares no code with the crawler: the judge must not use the defendant's
// arithmetic. It opens no socket (bench/load and bench/simnet do) and starts no goroutine.
//
// A page is a pure function of (seed, URL); a hundred million hosts take no storage. Only pages that fail at the first
// try are remembered, so that the second goes well.
//
//	seed --> host facts  (pages, scheme, port, kind of robots.txt)   hostAt
//	     --> page facts  (shape, content, area, path, size)          pageAt
//	     --> links       (tree + extra)                              appendLinks --+--> Expected: the truth
//	     --> bytes       (spellings, text from a prepared sea)       appendHTML  --+
//	                                                                    |
//	       crawler <---- Serve (one connection, any shape of answer) <--+
//	          |             |
//	       archive         Log
//	          +--> Judge <--+--- Expected
//
// The graph. Page p of a host hangs on page (p-1)/PageFanout, root of host h on the root of (h-1)/HostFanout. Whatever
// has others hanging on it is plain, whole and allowed; faults, denials and odd content strike leaves only. So from the
// root of host 0 everything can be reached by links over good pages, whatever the rates are. Extra links are Zipf-like,
// inside the host and across hosts.
//
// Names. A path ends in the page's number, behind words that hold no digit; locate reads it, writes the path again and
// compares, so there is one name for one thing. /~hop, /~land and /~loop are steps of redirects, /~robots another
// host's robots.txt, /nowhere pages that never were. /trap is what looks like a link and is none: whoever asks for it
// has read a comment, a script, a template or an address of another scheme as one.
//
// Packed pages. Hosts of GzipShare send HTML packed to clients that accept it, made of islands that were packed before
// (islands.go); the log notes which form was sent, and the judge compares digests with that form.
//
// Time passes. Hosts of Validators say by what their pages are known again (ETag, Last-Modified, or both) and answer
// 304 to who asks whether they have changed. The same world in a later Edition reads otherwise in a share Changing of
// its pages; links stay as they are.
//
// Guests. Sites that are not drawn from the seed are guests (package guest): hostile servers, traps, real sites.
//
// Addresses. AddrOf(name) = AddrBase + xxh3(name) mod IPs, with the 64-bit xxh3 of the lower-case name; a resolver that
// knows this formula agrees with the judge without asking.
//
// Time. An arrival lasts from the request's first byte to just before the last write of the answer: no client can know
// the end sooner. Only where the client ended the exchange does the server learn it late, and there the judge grants
// Promise.Slack. Pauses are read deadlines, so all of it runs in virtual time, and ends when the client goes.
//
// Classes. Page: stored with status 200 and the payload's digest. Cut: the same, larger than a body limit. Attempt:
// asked for, never a page (404, redirects, permanent faults). Optional: may be asked for (redirect loops). Denied:
// robots.txt forbids it. NoHost: its host has no address.
//
// Promises: G1: the bytes served hold the links of the model, and no others, by any sound tokenizer and URL parser.
// G2: every page is reached from one seed, except behind robots.txt. G3: the judge finds each kind of misconduct, and
// finds none in a sound crawl.
//
// Who owns what: Serve takes its connection and closes it. Log, World and Counters may be shared by all connections; a
// Truth is read only.
//
// What it costs: about 6 us of CPU and 8 small allocations for a page of 16 KiB, logged; 200 us for one of 240 KB,
// packed; 40 bytes of memory for an arrival; 1.5 us for a page of the truth.
package simweb
