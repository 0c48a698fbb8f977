package reportpage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orbweaver/engine/operate/logreport"
	"orbweaver/internal/plural"
)

// reportTable is the first part of a report, for people.
type reportTable struct {
	Title   string
	Columns []column
	Rows    [][]string
	Note    string
	File    string // with all rows
}

type column struct {
	Title    string
	IsNumber bool
	name     string
}

// titleOf is the heading of a report.
func titleOf(k logreport.Kind) string {
	switch k {
	case logreport.Hosts:
		return "Hosts"
	case logreport.Status:
		return "Status codes"
	case logreport.Types:
		return "Media types"
	case logreport.Depth:
		return "Links from a seed"
	case logreport.Hops:
		return "How URLs were found"
	case logreport.Seeds:
		return "Seeds that were not fetched"
	case logreport.Errors:
		return "URLs without a usable answer"
	case logreport.TLS:
		return "Faults of certificates and TLS"
	case logreport.Requisites:
		return "Images, style sheets and scripts that pages lack"
	default:
		return string(k)
	}
}

func tableOf(top *logreport.Top) reportTable {
	t := reportTable{Title: titleOf(top.Kind), File: string(top.Kind) + ".tsv"}
	for i, name := range top.Columns {
		title := strings.ReplaceAll(strings.ReplaceAll(name, "_", " "), "urls", "URLs")
		isNumber := top.Kind != logreport.Seeds && i >= top.FirstNumber && name != "example"
		t.Columns = append(t.Columns, column{strings.ToUpper(title[:1]) + title[1:], isNumber, name})
	}
	hasShare := top.Sum > 0 && top.Kind != logreport.Requisites && top.Kind != logreport.TLS
	if hasShare {
		t.Columns = slices.Insert(t.Columns, top.FirstNumber+1, column{"Share", true, "share"})
	}
	rows := slices.Clone(top.Rows)
	if top.Kind == logreport.Depth {
		slices.SortStableFunc(rows, func(a, b []string) int { return int(number(a[0]) - number(b[0])) })
	}
	for _, row := range rows {
		cells := slices.Clone(row)
		if hasShare {
			share := 100 * float64(number(row[top.FirstNumber])) / float64(top.Sum)
			cells = slices.Insert(cells, top.FirstNumber+1, fmt.Sprintf("%.1f %%", share))
		}
		for i := range cells {
			cells[i] = t.Columns[i].text(cells[i])
		}
		t.Rows = append(t.Rows, cells)
	}
	switch {
	case top.Kind == logreport.Seeds:
		t.Note = fmt.Sprintf("%s of %s %s fetched.", plural.Number(top.Fetched), plural.Count(top.All, "seed"),
			plural.Verb(top.All, "was", "were"))
	case top.All > len(top.Rows):
		t.Note = fmt.Sprintf("The first %d of %s.", len(top.Rows), plural.Count(top.All, "row"))
	}
	return t
}

// text is a field of a report, for people.
func (c *column) text(field string) string {
	switch {
	case c.name == "share":
		return field
	case c.name == "bytes":
		return plural.Bytes(number(field))
	case c.IsNumber:
		return plural.Number(number(field))
	case field == "-":
		return ""
	case c.name == "status" && number(field) < 1:
		return "no response (" + field + ")"
	default:
		return cut(field)
	}
}

func number(field string) int64 {
	n, _ := strconv.ParseInt(field, 10, 64)
	return n
}
