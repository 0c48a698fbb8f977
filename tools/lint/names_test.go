package lint

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"unicode"
)

// metaphorNames are parts of names that are pictures: an identifier or a file that contains one needs a name that says
// what the thing is or does.
const metaphorNames = `album aloft astray awaited bookkeeper borrow buried bury calm calmed calmness camera carrier
	circle cleared clerk clerks comer comers crowd crowded door doors errand errands farewell fate fly former formerly
	goodbye grave graves greet ground grounded heir heirs holdings hungry invitro island islands keeper keepers kitchen
	knock landed latecomer leaver leavers ledger lend lent letter letters loan lobby looker mood murmur newborn
	oddities oddity office outcast outcasts parish parting porch posting presence redone rival rooms sea seat seatless
	shelf shy sit sitting sloth standing standings starved stranger strangers tale thaw thawed town tray turnover
	undertaker underway visitor vitro wing wings`

// literalNames mean what they say, with the reason.
var literalNames = map[string]string{
	"bench/hostile.letters":     "letters of the alphabet",
	"engine/page/parse.letters": "letters of the alphabet",
	"engine/page/parse.Letter":  "the letter of a hop",
	"engine.letters":            "letters of a hop path",
}

// bareFields are participles and adverbs that do not say what they hold.
const bareFields = `again apart arrived asked away begun behind beyond came given going gone heard late left lent
	met over owed said settled shut since soon spent taken told under`

// bareFuncs need an object if a package has two of them.
const bareFuncs = `ask give hear keep look mark meet rest run say settle take tell turn`

// A declared name is a name that a package gives: to a type, function, method, field, constant, variable, file or
// itself.
type declaredName struct {
	name  string
	at    string
	field bool
	fn    bool
}

func findNames(h *tree) (faults []string) {
	byDir := h.packages()
	for _, dir := range sorted(byDir) {
		for _, d := range h.declared(byDir[dir]) {
			isMetaphor := func(part string) bool { return hasWord(metaphorNames, part) }
			if literalNames[dir+"."+d.name] == "" && slices.ContainsFunc(nameParts(d.name), isMetaphor) {
				faults = append(faults, d.at+": "+d.name)
			}
		}
	}
	return faults
}

func findBareNames(h *tree) (faults []string) {
	byDir := h.packages()
	for _, dir := range sorted(byDir) {
		first := make(map[string]declaredName)
		for _, d := range h.declared(byDir[dir]) {
			name := strings.ToLower(d.name)
			switch {
			case d.field && hasWord(bareFields, name):
				faults = append(faults, d.at+": field "+d.name)
			case d.fn && (isProgram(dir) || hasWord("internal/cli/trials bench/cmd/orbweaver-bench", dir)) &&
				strings.EqualFold(d.name, "run"): // package kong calls Run of a command
			case d.fn && hasWord(bareFuncs, name):
				if before, ok := first[name]; ok {
					faults = append(faults, d.at+": func "+d.name+", as at "+before.at)
				} else {
					first[name] = d
				}
			}
		}
	}
	return faults
}

// nameParts splits a name at capitals, digits and underscores: "newLeaseHTTPConn" is new, lease, http, conn.
func nameParts(name string) (parts []string) {
	runes := []rune(name)
	begin := 0
	cut := func(i int) {
		if i > begin {
			parts = append(parts, strings.ToLower(string(runes[begin:i])))
		}
		begin = i
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			cut(i)
			begin = i + 1
		case unicode.IsUpper(r) && i > begin &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			cut(i)
		}
	}
	cut(len(runes))
	return parts
}

// declared lists the names that a package declares, without those of its tests. The names of all its files count.
func (h *tree) declared(files []*goFile) (names []declaredName) {
	add := func(n ast.Node, isField, isFunc bool, ids ...*ast.Ident) {
		for _, id := range ids {
			names = append(names, declaredName{name: id.Name, at: h.at(n), field: isField, fn: isFunc})
		}
	}
	for _, f := range files {
		base := strings.TrimSuffix(path.Base(f.path), ".go")
		names = append(names, declaredName{name: strings.TrimSuffix(base, "_test"), at: f.path + ":1"})
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				add(n, false, true, n.Name)
				return false
			case *ast.ValueSpec:
				add(n, false, false, n.Names...)
				return false
			case *ast.TypeSpec:
				add(n, false, false, n.Name)
			case *ast.FuncType:
				return false
			case *ast.InterfaceType:
				for _, method := range n.Methods.List {
					add(method, false, true, method.Names...)
				}
				return false
			case *ast.Field:
				add(n, true, false, n.Names...)
			}
			return true
		})
	}
	return names
}
