package derivation

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"orbweaver/derive/centrality"
	"orbweaver/engine/frontier/order"
	"orbweaver/internal/vfs"
)

// domainSuffix ends the name of a graph of domains.
const domainSuffix = "-domain"

// writeBudgets writes the weights of domains for the order ranked of a later crawl, the greatest first. A weight is
// (in-degree x PageRank / least PageRank)^0.625. The order itself takes in-degree^1.25; PageRank knows which links
// are worth more, but does not tell a domain without any link from one with a link of a large site, as spam farms have.
func writeBudgets(
	ctx context.Context, fsys vfs.FS, g *centrality.Graph, base string, names []string, pageRank []float64,
) error {
	degrees, err := g.CountDegrees(ctx)
	if err != nil || len(pageRank) == 0 {
		return err
	}
	least, weights := slices.Min(pageRank), make([]float64, len(names))
	for node := range weights {
		weights[node] = math.Pow(max(float64(degrees.In[node]), 0.5)*pageRank[node]/least, 0.625)
	}
	return vfs.WriteAtomic(fsys, base+"-budgets.tsv", func(w io.Writer) error {
		lines, left := bufio.NewWriter(w), order.BudgetsMost
		for _, node := range centrality.Order(weights) {
			name, _, _ := strings.Cut(names[node], "\t") // of the number of hosts
			labels := strings.Split(name, ".")
			slices.Reverse(labels)
			line := fmt.Appendf(nil, "%s\t%.4g\n", strings.Join(labels, "."), min(weights[node], order.BudgetMost))
			if _, err := order.ReadBudgets("", bytes.NewReader(line)); err != nil {
				continue // a graph of others may have names that are no domains here
			}
			if _, err := lines.Write(line); err != nil {
				return err
			}
			if left--; left == 0 {
				break
			}
		}
		return lines.Flush()
	})
}
