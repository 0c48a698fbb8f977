// Package process asks the operating system about this process and raises its limits: open files, processor time,
// memory, the clock since the machine was started.
package process
