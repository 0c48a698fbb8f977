package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strconv"
	"strings"
)

// checkMessages finds errors that name the engine although a package below it makes them: the name tells a developer
// where to look. People do not see it (command.Invocation).
func checkMessages(h *tree) (faults []string) {
	for _, f := range h.files {
		if f.test || !strings.HasPrefix(f.dir, "engine/") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err == nil && strings.HasPrefix(strings.TrimPrefix(text, "BUG: "), "engine: ") {
				faults = append(faults, fmt.Sprintf("%s: a message begins with engine: and not with its own package, %s: ",
					h.fset.Position(lit.Pos()), path.Base(f.dir)))
			}
			return true
		})
	}
	return faults
}
