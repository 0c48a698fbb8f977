// Package sim is the command sim, which serves the simulated web.
package sim
