// Package throttle limits how often the same message is logged.
package throttle
