//go:build !scenario

package crash

// classesMost is how many classes of calls a test crashes at unless told.
const classesMost = 5
