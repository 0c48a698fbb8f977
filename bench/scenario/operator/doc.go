// Package operator holds the scenarios of what an operator asks for: pause, stop, signals, limits, host rules and
// filters. Package testbed describes how they run.
package operator
