// Package notify wakes a goroutine that waits on a channel of capacity one.
package notify
