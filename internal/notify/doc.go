// Package notify wakes a goroutine that waits on a channel of capacity one, and lets one sleep that may be stopped.
package notify
