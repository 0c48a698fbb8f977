//go:build scenario

package crash

// classesMost is how many classes of calls a test crashes at unless told: all.
const classesMost = 0
