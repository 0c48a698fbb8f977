package filter

import (
	"fmt"

	"github.com/expr-lang/expr/ast"
)

// The cost limits of an expression. It is evaluated for very many URLs that unknown authors wrote. So its time and
// memory must grow at most linearly with the length of the URL. Regular expressions are RE2, which is linear. The
// following limits ensure it for the rest; useful filters stay far below them.
const (
	sumsMost   = 12     // string concatenations a + b: each may double the length
	budgetMost = 10_000 // list elements that an evaluation may make; beyond, it fails
)

// cost collects the expensive parts of an expression.
type cost struct {
	sums  int
	fault string
}

// affordable returns an error that names the expensive parts of a compiled expression.
func affordable(root ast.Node) error {
	var c cost
	ast.Walk(&root, &c)
	if c.sums > sumsMost {
		c.fault = fmt.Sprintf("more than %d sums of texts", sumsMost)
	}
	if c.fault != "" {
		return fmt.Errorf("%w: %s: it could take for ever", ErrExpression, c.fault)
	}
	return nil
}

// Visit examines a node.
func (c *cost) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.PredicateNode:
		var inner loops
		ast.Walk(&n.Node, &inner)
		if inner > 0 {
			c.fault = "a loop within a loop"
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "+":
			if t := n.Type(); t == nil || t.Kind().String() == "string" || t.Kind().String() == "interface" {
				c.sums++
			}
		case "matches":
			if _, written := n.Right.(*ast.StringNode); !written {
				c.fault = "matches takes a pattern that is written out"
			}
		}
	case *ast.BuiltinNode:
		switch n.Name {
		case "repeat", "reduce":
			c.fault = n.Name + " makes much of little"
		case "replace":
			if !shrinks(n.Arguments) {
				c.fault = "replace takes texts that are written out, the new no longer than the old"
			}
		}
	}
}

// shrinks reports whether a call of replace makes nothing longer.
func shrinks(args []ast.Node) bool {
	if len(args) < 3 {
		return false
	}
	before, ok := args[1].(*ast.StringNode)
	after, both := args[2].(*ast.StringNode)
	return ok && both && len(after.Value) <= len(before.Value)
}

// loops counts the predicates below a node.
type loops int

// Visit counts the predicates of a node.
func (l *loops) Visit(node *ast.Node) {
	if _, ok := (*node).(*ast.PredicateNode); ok {
		*l++
	}
}
