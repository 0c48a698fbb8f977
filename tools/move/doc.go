// Command move moves Go files of this module into other packages, and renames declarations, by type information.
//
//	go -C tools/move build -o /tmp/move . && /tmp/move -n -moves 'engine/site: engine/site engine/rulespool' \
//		-rename 'engine:Site=State,engine:Site.fate=DeadOutcome'
//
// A file moves with its test file. What is used across the new border is exported, with its methods in interfaces and
// the embedded fields of its type; -rename gives better names. All references in the module and the imports are
// rewritten. It prints what a lower package (-moves lists packages from the bottom up) uses of a higher one, methods away
// from their type, what only tests use, and local names that hide a package; -local renames such locals. -n only
// reports. It reads files for Linux with the tags invariants and scenario, so other files are edited by hand. Golden
// files and docs move by hand too. Begin with a clean git tree: files move by git mv.
//
// plan.txt names the packages into which engine/cluster/agent is to be cut. The command cutdecl moves single
// declarations between files of one package, to prepare a move. All of them go when the plan is carried out.
package main
