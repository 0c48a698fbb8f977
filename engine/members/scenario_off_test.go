//go:build !scenario

package members_test

// scenarios says that the tests run in full size.
const scenarios = false
