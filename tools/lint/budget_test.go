package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// budgetFile has the most that the tree may have of each thing, one in a line: a number, then its name.
const budgetFile = "tools/lint/budget.txt"

// budgetSlack is the part by which a number may be below its budget. Further below, the budget must be lowered too.
const budgetSlack = 0.02

// checkBudget compares the tree with the budget.
func checkBudget(h *tree) (faults []string) {
	if !h.whole {
		return nil
	}
	measured := h.volume()
	budget := make(map[string]float64)
	for line := range strings.Lines(h.texts[budgetFile]) {
		number, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if most, err := strconv.ParseFloat(number, 64); err == nil && !strings.HasPrefix(line, "#") {
			budget[strings.TrimSpace(name)] = most
		}
	}
	for _, name := range sorted(measured) {
		most, ok := budget[name]
		switch is := measured[name]; {
		case !ok:
			faults = append(faults, fmt.Sprintf("%s: no line for %s, of which there are %.4g", budgetFile, name, is))
		case is > most:
			faults = append(faults, fmt.Sprintf(
				"%s: %.6g %s, at most %.6g: take something out, or raise the number and say in the commit why it is worth it",
				budgetFile, is, name, most,
			))
		case is < most*(1-budgetSlack)-1:
			faults = append(faults, fmt.Sprintf("%s: %.6g %s, no longer %.6g: lower the number", budgetFile, is, name, most))
		}
	}
	return faults
}

// volume measures the tree.
func (h *tree) volume() map[string]float64 {
	commands, flags := h.commandsAndFlags()
	n := map[string]float64{
		"packages": float64(len(h.packages())),
		"flags":    float64(len(flags)),
		"commands": float64(len(commands)),
		"make targets": float64(len(
			regexp.MustCompile(`(?m)^[a-z][a-z-]*:.*## `).FindAllString(h.texts["Makefile"], -1),
		)),
	}
	for _, f := range h.files {
		kind := "product lines"
		switch {
		case f.test:
			kind = "test lines"
		case outside(f.path) && !ofPrograms(f.path):
			kind = "laboratory lines"
		}
		n[kind] += float64(f.lines)
	}
	for name, text := range h.texts {
		if strings.HasPrefix(name, "docs/") && strings.HasSuffix(name, ".md") {
			n["words of docs"] += float64(len(strings.Fields(text)))
		}
	}
	// The program is measured where it has been built, as CI does before it.
	if info, err := os.Stat(filepath.Join("..", "..", "bin", "orbweaver")); err == nil {
		n["tenths of a megabyte of the program"] = float64(info.Size() / 100_000)
	}
	return n
}
