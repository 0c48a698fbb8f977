// Package trials has the commands demo and sim, and the options of each command of orbweaver and orbweaver-bench that
// crawls the simulated web.
package trials
