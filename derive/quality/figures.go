package quality

import (
	"cmp"
	"slices"
)

// points is how many steps a Curve has.
const points = 100

// Curve is C(k) at 0, 1, 2 ... 100 % of the documents; between two numbers of documents it is linear.
type Curve [points + 1]float64

// figures are those of one order.
type figures struct {
	curve         Curve
	area, atFifth float64
}

// measure returns the figures of an order. Pages that it lacks are never had.
func measure(order []uint32, values []float64) figures {
	f := figures{}
	total := 0.0
	for _, v := range values {
		total += v
	}
	if total == 0 {
		return random(len(values))
	}
	sum, at := 0.0, 0
	for k := 0; ; k++ {
		next := 0.0
		if k < len(order) {
			next = values[order[k]]
		}
		for ; at <= points && at*len(values) < (k+1)*points; at++ {
			f.curve[at] = (sum + next*(float64(at*len(values))/points-float64(k))) / total
		}
		if k == len(values) {
			break
		}
		sum += next
		f.area += sum / total
	}
	f.area /= float64(len(values))
	f.atFifth = f.curve[points/5]
	return f
}

// random are the expected figures of an order at random.
func random(documents int) figures {
	f := figures{area: (1 + 1/float64(documents)) / 2}
	for i := range f.curve {
		f.curve[i] = float64(i) / points
	}
	f.atFifth = f.curve[points/5]
	return f
}

// falling returns the order by falling value, and by number where values are equal.
func falling(values []float64) []uint32 {
	order := make([]uint32, len(values))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(values[b], values[a]), cmp.Compare(a, b))
	})
	return order
}

// Tau is Kendall's rank correlation of the order of different numbers with their falling or rising order: 1 if they
// rise, -1 if they fall. Fewer than two numbers have 1. It sorts the numbers.
func Tau(numbers []uint32) float64 {
	n := float64(len(numbers))
	if n < 2 {
		return 1
	}
	inversions := sortCounting(numbers, make([]uint32, len(numbers)))
	return 1 - 4*float64(inversions)/(n*(n-1))
}

// sortCounting sorts by merging, and returns how many pairs were in the wrong order (Knight, 1966).
func sortCounting(a, memory []uint32) (inversions int64) {
	if len(a) < 2 {
		return 0
	}
	left, right := a[:len(a)/2], a[len(a)/2:]
	inversions = sortCounting(left, memory) + sortCounting(right, memory)
	merged := memory[:0]
	for len(left) > 0 && len(right) > 0 {
		if right[0] < left[0] {
			inversions += int64(len(left))
			merged, right = append(merged, right[0]), right[1:]
		} else {
			merged, left = append(merged, left[0]), left[1:]
		}
	}
	merged = append(append(merged, left...), right...)
	copy(a, merged)
	return inversions
}

// SiteLeast is how many discovered pages a site has at least whose tau is stated.
const SiteLeast = 10

// siteTau compares, for each site, the order of visits with that of discovery. isCounted says which nodes count.
func (c *Crawl) siteTau(found *discovery, isCounted func(node uint32) bool) SiteTau {
	var nodes []uint32
	for node, number := range found.number {
		if node < c.visited && number != 0 && isCounted(uint32(node)) {
			nodes = append(nodes, uint32(node))
		}
	}
	slices.SortFunc(nodes, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(c.sites[a], c.sites[b]), cmp.Compare(a, b))
	})
	t := SiteTau{Mean: 1, Least: 1}
	sum, pages := 0.0, 0
	for from := 0; from < len(nodes); {
		to := from
		for to < len(nodes) && c.sites[nodes[to]] == c.sites[nodes[from]] {
			to++
		}
		if n := to - from; n >= SiteLeast {
			numbers := make([]uint32, 0, n)
			for _, node := range nodes[from:to] {
				numbers = append(numbers, found.number[node])
			}
			tau := Tau(numbers)
			t.Sites++
			t.Least = min(t.Least, tau)
			sum += tau * float64(n)
			pages += n
		}
		from = to
	}
	if pages > 0 {
		t.Mean = sum / float64(pages)
	}
	return t
}
