// Package lint holds the rules of the house, as tests over the whole tree.
//
// It has no code to import: only tests, run by `go test ./tools/lint` and as the last step of `make lint`. Each rule is
// a function from the tree to a list of faults, and each fault names the place and says what to write instead.
//
// What golangci-lint can check is in .golangci.yml: where packages may be imported, which calls are for programs alone,
// package variables, sizes of files and functions. Here stands the rest:
//
//	network_test.go     dialling and listening: only in their places, and whatever else could reach the network
//	conduct_test.go     goroutines start only in their places
//	race_test.go        what shares memory between goroutines runs under the race detector, or is left out for a reason
//	queues_test.go      queues.md lists the queues between goroutines
//	globals_test.go     package variables are never written to
//	budget_test.go      lines, packages, flags, words and so on are at most those of budget.txt
//	promises_test.go    a promise is explained, cited in code, and has a test that bears its name
//	packages_test.go    each package has a page and a place in ARCHITECTURE.md; only the engine and above hold an *Engine
//	programs_test.go    no built program is committed
//	words_test.go       words that do not enter the tree; names in the documentation that must exist
//	chains_test.go      names in chains of package comments and of ARCHITECTURE.md must exist
//	findings_test.go    the list of the rules below, about words, names and structure
//	language_test.go    words and metaphors in prose, width of lines, length of sentences and of commit subjects
//	names_test.go       names that are metaphors, bare participles or bare verbs
//	structure_test.go   sizes of packages, structs and types; cycles of struct types
//	niltests_test.go    comparisons of a collaborator with nil
//	layers_test.go      imports that point upward, by folders; test kits; the judge knows nothing of the product
//	promiseids_test.go  ids that stand for promises of several packages
//	messages_test.go    errors of packages below engine begin with the name of their package
//	namedflags_test.go  flags that texts of the program name must exist
//
// The tables at the head of these files are meant to be read, and to be changed together with the code: an entry which
// no longer matches anything is a fault too, so that no list has unused permissions.
//
// The rules look at syntax: all files are parsed, under all build tags. Only niltests_test.go needs types, and only
// those of the module, so no package from outside is compiled. That takes some seconds. planted_test.go and
// findingsplanted_test.go hold each rule against a small tree with a fault in it, so a rule that finds nothing fails.
package lint
