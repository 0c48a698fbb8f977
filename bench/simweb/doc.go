// Package simweb is a simulated web with ground truth.
package simweb
