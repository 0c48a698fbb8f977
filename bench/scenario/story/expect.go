package story

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// expect checks the conditions of a line and of the lines below it. Each condition that does not hold is a fault of its
// own, and is printed with the values of its terms.
func expect(s *Story, _ []string) {
	conditions := s.line.block
	if _, text, has := strings.Cut(s.line.text, " "); has {
		conditions = append([]line{{place: s.line.place, text: text}}, conditions...)
	}
	env := s.env()
	for _, c := range conditions {
		text := seconds(expand(c.text, env))
		value, err := expr.Eval(text, env)
		if err != nil {
			s.T.Errorf("%s: %s: %v", c.place, c.text, err)
		} else if value != true {
			s.T.Errorf("%s: expect %s: %s", c.place, c.text, strings.Join(terms(text, env), ", "))
		}
	}
}

// terms are the terms of a condition with their values.
func terms(text string, env map[string]any) []string {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil
	}
	all := map[string]bool{}
	var visit func(node ast.Node)
	visit = func(node ast.Node) {
		switch n := node.(type) {
		case *ast.BinaryNode:
			visit(n.Left)
			visit(n.Right)
		case *ast.UnaryNode:
			visit(n.Node)
		case *ast.IntegerNode, *ast.FloatNode, *ast.StringNode, *ast.BoolNode, *ast.NilNode, *ast.ConstantNode:
		default:
			value, err := expr.Eval(node.String(), env)
			if err == nil {
				all[fmt.Sprintf("%s is %.1200s", node, fmt.Sprintf("%+v", value))] = true
			}
		}
	}
	visit(tree.Node)
	return slices.Sorted(maps.Keys(all))
}

// Eval returns the value of an expression; the story fails if it has none.
func (s *Story) Eval(text string) any {
	s.T.Helper()
	env := s.env()
	value, err := expr.Eval(seconds(expand(text, env)), env)
	if err != nil {
		s.Fatalf("%v", err)
	}
	return value
}

// number is the value of an expression that is a number.
func (s *Story) number(text string) float64 {
	s.T.Helper()
	switch n := s.Eval(text).(type) {
	case int:
		return float64(n)
	case float64:
		return n
	}
	s.Fatalf("%s is not a number", text)
	return 0
}
