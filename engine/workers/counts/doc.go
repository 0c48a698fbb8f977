// Package counts has the options of the loops of an agent by number: fetch workers, parse workers and resolve loops,
// and what memory the connections and pages take that they hold at most.
package counts
