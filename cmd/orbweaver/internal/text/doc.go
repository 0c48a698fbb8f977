// Package text holds the commands that try a component on text: url normalize, robots test, links.
package text
