// Package rooms measures the rooms of the frontier one by one, each alone and growing: a benchmark a file.
//
// It is not the whole crawl (package vitro) and no micro-benchmark (those stand beside the code they measure). What is
// fed to a room looks like what a crawl of the simulated web feeds to it, and is made in advance or cheaply enough not to
// be what is measured.
package rooms
