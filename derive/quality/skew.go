package quality

import (
	"cmp"
	"math"
	"slices"
)

// Skew is how unequal the in-degrees of documents are.
type Skew struct {
	// Exponent is that of the power law which fits the documents with at least From links best; 0 if there are too few.
	Exponent float64 `json:"exponent"`
	From     int     `json:"from"`
	// Fit is the largest distance between the two distributions, from 0 to 1.
	Fit float64 `json:"fit"`
	// Top is the part of all links that the hundredth of the documents with the most links has.
	Top float64 `json:"top_1_percent"`
}

// tailLeast is how many documents a power law is fitted to, at least.
const tailLeast = 50

// degreeCount is how many documents have an in-degree.
type degreeCount struct{ degree, documents float64 }

// skewOf measures in-degrees. The fit is that of Clauset, Shalizi and Newman (2009): the exponent by maximum
// likelihood, and the least degree by the distance of Kolmogorov and Smirnov.
func skewOf(inDegree []float64) Skew {
	counts, total := make(map[float64]float64), 0.0
	for _, degree := range inDegree {
		counts[degree]++
		total += degree
	}
	if total == 0 {
		return Skew{}
	}
	var falling []degreeCount
	for degree, n := range counts {
		falling = append(falling, degreeCount{degree, n})
	}
	slices.SortFunc(falling, func(a, b degreeCount) int { return cmp.Compare(b.degree, a.degree) })
	s := Skew{Fit: 1, Top: topShare(falling, float64((len(inDegree)+99)/100), total)}
	tail, logs := 0.0, 0.0
	for i, is := range falling {
		if is.degree == 0 {
			break
		}
		tail += is.documents
		logs += is.documents * math.Log(is.degree)
		if tail < tailLeast || i == 0 {
			continue
		}
		exponent := 1 + tail/(logs-tail*math.Log(is.degree-0.5))
		if fit := distance(falling[:i+1], tail, exponent); fit < s.Fit {
			s.Exponent, s.From, s.Fit = exponent, int(is.degree), fit
		}
	}
	if s.From == 0 {
		s.Fit = 0
	}
	return s
}

// topShare is the part of all links that the documents with the highest degrees have.
func topShare(falling []degreeCount, documents, links float64) float64 {
	top := 0.0
	for _, is := range falling {
		n := min(is.documents, documents)
		top += n * is.degree
		documents -= n
	}
	return top / links
}

// distance is the largest one between the distribution of degrees and the power law from the least of them on.
func distance(falling []degreeCount, documents, exponent float64) float64 {
	from, most, seen := falling[len(falling)-1].degree-0.5, 0.0, 0.0
	for _, is := range falling {
		seen += is.documents
		atLeast := math.Pow((is.degree-0.5)/from, 1-exponent)
		most = max(most, math.Abs(seen/documents-atLeast))
	}
	return most
}
