// Package control lets an operator talk to a running crawl over HTTP, on a Unix socket in the crawl directory and on a
// further address: status, questions, pause, resume, stop, add, block, set, and metrics for Prometheus.
//
//	GET  /status    report.json as it would be written now
//	GET  /now       the report with rates and an estimate of the end
//	GET  /events    the same each second, as server-sent events
//	GET  /history   samples of the last hour, day or week: ?span=1h&points=600
//	GET  /hosts     sites, sorted: ?sort=queue|delay|due|errors|pages|bytes&suffix=NAME&state=STATE&limit=N
//	GET  /queue     what is queued for a host, and why it waits: ?host=HOST&limit=N
//	GET  /seeds     what became of each seed: ?sort=given|state|url|time&state=STATE&outcome=NAME&suffix=NAME&limit=N
//	GET  /active    exchanges under way, the oldest first: ?limit=N
//	GET  /doctor    what limits the crawl now, the strongest first, with figures and remedies
//	GET  /explain   what the crawl knows about a URL, and what became of it: ?url=URL&whole-log=true
//	GET  /match     which sites a host rule would be for: ?rule=RULE
//	GET  /rules     the rules of single hosts
//	GET  /metrics   Prometheus text format: numbers, and no name of a site
//	GET  /healthz   200 while the process lives
//	POST /pause /resume /stop
//	POST /add       body: one URL a line
//	POST /block     body: one host rule a line
//	POST /rule      body: one host rule a line, with what it asks for
//	POST /set       body: key=value; ?dry-run=true counts, ?yes=true confirms
//	POST /undo      takes the last change of settings back
//
// On an address there are pages for a browser at / (package dashboard). There are no profiles: whatever else is asked
// for is 404.
//
// # Access
//
// It is not a public interface. The Unix socket is its owner's alone, from the moment it exists. On an address
//
//   - every request except /healthz brings the token (401), by default the one in the crawl directory; on loopback too,
//     since every user of the machine can connect there;
//   - a browser logs in with the token, and then sends a cookie and a key (package dashboard);
//   - an address beyond loopback is listened on only with a token that the operator chose;
//   - requests that name the server otherwise than by its address or by the name that it was told to listen on are
//     refused: a web page whose name was rebound to this machine sends its own name (421).
//
// Requests that a browser sends on behalf of any other page are refused (403), on a socket all that a browser sends.
// Bodies have a limit in bytes (413), in the time that their sender takes (408) and in number at once (429). Except for
// the pages, what is answered is no document for a browser. There are 32 connections at most, on each
// of the two; a new one takes the place
// of one without an authorised request under way (conns.go).
//
// A Server owns its goroutines and joins them in Close.
package control
