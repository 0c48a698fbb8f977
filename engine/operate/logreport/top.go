package logreport

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
)

// Top is the first part of a report: the rows with the largest first number. Of the seeds, it is those that were not
// fetched, in their order.
type Top struct {
	Kind        Kind       `json:"report"`
	Columns     []string   `json:"columns"`
	FirstNumber int        `json:"first_number"` // place of the first column with a number
	Rows        [][]string `json:"rows"`
	All         int        `json:"all"`               // rows of the report
	Fetched     int        `json:"fetched,omitempty"` // seeds with the outcome ok
	Sum         int64      `json:"sum"`               // of the first numbers of all rows; not of seeds
}

// topOf returns the first part of a report whose rows each calls f with.
func topOf(k Kind, most int, each func(f func(row []string) error) error) (Top, error) {
	t := Top{Kind: k, Columns: k.Columns(), FirstNumber: k.FirstNumber(), Rows: [][]string{}}
	err := each(func(row []string) error {
		t.All++
		if k == Seeds {
			if row[1] == outcome.OK.String() {
				t.Fetched++
			} else if len(t.Rows) < most {
				t.Rows = append(t.Rows, slices.Clone(row))
			}
			return nil
		}
		t.Sum += t.number(row)
		if t.Rows = append(t.Rows, slices.Clone(row)); len(t.Rows) > 2*most {
			t.cut(most)
		}
		return nil
	})
	if k != Seeds {
		t.cut(most)
	}
	return t, err
}

// number is the number of a row by which it stands in the Top.
func (t *Top) number(row []string) int64 {
	n, _ := strconv.ParseInt(row[t.FirstNumber], 10, 64)
	return n
}

// cut sorts the rows and drops those behind the first ones.
func (t *Top) cut(most int) {
	slices.SortStableFunc(t.Rows, func(a, b []string) int {
		switch own := isOwnLimit(a[0]); { // limits of the crawl come last: they are no errors
		case t.Kind != Errors || own == isOwnLimit(b[0]):
			return cmp.Compare(t.number(b), t.number(a))
		case own:
			return 1
		default:
			return -1
		}
	})
	t.Rows = t.Rows[:min(len(t.Rows), most)]
}

// isOwnLimit reports whether an outcome, by its name, is a limit or a rule of the crawl, and no error of a site.
func isOwnLimit(name string) bool {
	for _, o := range []outcome.Outcome{
		outcome.QuotaHost, outcome.QuotaDomain, outcome.QuotaAddress, outcome.Filtered, outcome.Blocked, outcome.Novelty,
		outcome.HandedOver, outcome.Recovered,
	} {
		if name == o.String() {
			return true
		}
	}
	return false
}

// Top returns the first part of a report that Make was asked for.
func (r *Reports) Top(ctx context.Context, k Kind, most int) (Top, error) {
	return topOf(k, most, func(f func(row []string) error) error { return r.Each(ctx, k, f) })
}

// ReadTops returns the first part of each report that Write wrote in dir.
func ReadTops(fsys vfs.FS, dir string, most int) (tops []Top, err error) {
	for _, k := range Kinds() {
		file, err := fsys.Open(dir + "/" + layout.ReportsDir + "/" + string(k) + ".tsv")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("logreport: %w", err)
		}
		t, err := topOf(k, most, func(f func(row []string) error) error { return eachWritten(file, k, f) })
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("logreport: %s: %w", k, err)
		}
		tops = append(tops, t)
	}
	return tops, nil
}

// rowMost is the longest row that is read, in bytes. A row has three URLs at most.
const rowMost = 64 << 10

// eachWritten calls f with the rows of a report in a file. Rows of another version, with other columns, are left out.
func eachWritten(file vfs.File, k Kind, f func(row []string) error) error {
	in := bufio.NewScanner(file)
	in.Buffer(nil, rowMost)
	columns := len(k.Columns())
	for isFirst := true; in.Scan(); isFirst = false {
		if row := strings.Split(in.Text(), "\t"); !isFirst && len(row) == columns {
			if err := f(row); err != nil {
				return err
			}
		}
	}
	return in.Err()
}
