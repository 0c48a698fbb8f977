// Package attempt defines what the engine knows about one try to fetch a URL (Attempt), and the set of attempts in
// flight (InFlight).
//
// An Attempt belongs to a fetch.Page and moves with it: from the fetch worker through the parse worker to the journal.
// It has exactly one holder and needs no lock. It is reused with its Page.
//
// InFlight is shared by all workers. It holds the attempts whose queued item is neither on the workbench nor on disk. A
// checkpoint saves these items, so that a crash does not lose the URLs.
package attempt
