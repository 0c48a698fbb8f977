package manifest

import "fmt"

// WorkbenchPath is a file of the workbench that a checkpoint wrote.
func WorkbenchPath(dir string, generation uint64) string {
	return fmt.Sprintf("%s/bench-%08d", dir, generation)
}

// InFlightPath is the list of the URLs that were in flight at a checkpoint.
func InFlightPath(dir string, generation uint64) string {
	return fmt.Sprintf("%s/aloft-%08d", dir, generation)
}

// OutboxPath holds the messages to other agents that the queues of the outbox do not hold.
func OutboxPath(dir string, generation uint64) string {
	return fmt.Sprintf("%s/outbox-%08d", dir, generation)
}

// CachePath is the fingerprint cache of an orderly stop.
func CachePath(dir string) string { return dir + "/cache" }
