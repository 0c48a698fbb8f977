package lint

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// queuesPage is the table of queues between goroutines. Its first column has the file and the code that makes the
// queue.
const queuesPage = "tools/lint/queues.md"

// queueMakers are the functions that make queues, apart from make.
const queueMakers = "orbweaver/internal/handoff.New orbweaver/virtualize/diskq.Open " +
	"orbweaver/engine/state/visit.NewResultQueue orbweaver/engine/frontier/sites.NewUnresolvedQueue"

// queueRow is the begin of a row of queuesPage, with its number of columns.
var queueRow = regexp.MustCompile("(?m)^\\| `([^`]+)`: `([^`]+)` \\|(?: [^|\n]+ \\|){5}$")

// checkQueues wants a row in queuesPage for each code that makes a queue, and no row for code that does not exist. A
// channel of struct{} carries nothing: it is a signal or a count of turns, and has no row.
func checkQueues(h *tree) (faults []string) {
	page := h.texts[queuesPage]
	listed := map[string]bool{}
	for _, row := range queueRow.FindAllStringSubmatch(page, -1) {
		file, code := row[1], row[2]
		listed[file+" "+code] = true
		if !strings.Contains(h.texts[file], code) {
			faults = append(faults, fmt.Sprintf("%s: %s has no %s: take the row out", queuesPage, file, code))
		}
	}
	if rows := strings.Count(page, "\n| `"); rows != len(queueRow.FindAllString(page, -1)) {
		faults = append(faults, queuesPage+": each row is | `file`: `code` | puts | takes | room | one more | closes |")
	}
	h.each(func(f *goFile, n ast.Node) {
		if outside(f.path) && !ofPrograms(f.path) || f.dir == "internal/handoff" || strings.HasSuffix(f.dir, "test") {
			return // not of the product, or a kit for tests
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || !makesQueue(f, call) {
			return
		}
		end := call.End()
		if _, ok := call.Fun.(*ast.IndexExpr); ok {
			end = call.Fun.End() // what follows would look like a link
		}
		code := h.texts[f.path][h.fset.Position(call.Pos()).Offset:h.fset.Position(end).Offset]
		if !listed[f.path+" "+code] {
			faults = append(faults, fmt.Sprintf(
				"%s: %s makes a queue: give `%s`: `%s` a row in %s, with what happens at one value more than its room",
				h.at(call), code, f.path, code, queuesPage,
			))
		}
	})
	return faults
}

// makesQueue reports whether a call makes a channel that carries values, or another queue.
func makesQueue(f *goFile, call *ast.CallExpr) bool {
	if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "make" {
		channel, ok := call.Args[0].(*ast.ChanType)
		if !ok {
			return false
		}
		value, isStruct := channel.Value.(*ast.StructType)
		return !isStruct || len(value.Fields.List) > 0
	}
	fun := call.Fun
	if of, ok := fun.(*ast.IndexExpr); ok {
		fun = of.X
	}
	return hasWord(queueMakers, f.selected(fun))
}
