//go:build !scenario

package membership_test

// scenarios is true if the tests run in full size.
const scenarios = false
