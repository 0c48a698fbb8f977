// Package lint holds our own rules, as tests over the whole tree: both modules, the program's and that of bench.
//
// It has no code to import: only tests, run by `go test ./tools/lint` and as the last step of `make lint`. Each rule is
// a function from the tree to a list of faults, and each fault names the place. The list of the rules in tree_test.go
// says what to write instead.
//
// What golangci-lint can check is in .golangci.yml: where packages may be imported, which calls are for programs alone,
// package variables, sizes of files and functions.
//
// The tables at the head of these files are meant to be read, and to be changed together with the code: an entry which
// no longer matches anything is a fault too, so that no list has unused permissions.
//
// The rules look at syntax: all files are parsed, under all build tags. planted_test.go holds each rule
// against a small tree with a fault in it, so a rule that finds nothing fails.
package lint
