package report

import (
	"reflect"
	"strings"

	"orbweaver/internal/histogram"
)

// A Metric is a number of a report that is a metric, too. The tags of its field declare it: metric is its name, without
// the prefix orbweaver_ of all metrics, and help its help. The field of a metric with a label is a map, by the values
// of the label. A name that ends in _total is that of a counter, any other that of a gauge. A field whose type is of
// package histogram is a histogram; its label, if it has one, has a fixed value: NAME=VALUE.
type Metric struct {
	Name, Help   string
	Label        string // "" for a single number
	field        []int
	value        string // of the label of a histogram
	distribution bool
}

// distribution is a field of package histogram.
type distribution interface{ Load() histogram.Snapshot }

// MetricsOf lists the metrics of a struct, and of the structs that it embeds or points to.
func MetricsOf(t reflect.Type) (list []Metric) {
	for i := range t.NumField() {
		f := t.Field(i)
		if name := f.Tag.Get("metric"); name != "" {
			m := Metric{Name: name, Help: f.Tag.Get("help"), field: []int{i}}
			m.Label, m.value, _ = strings.Cut(f.Tag.Get("label"), "=")
			m.distribution = reflect.PointerTo(f.Type).Implements(reflect.TypeFor[distribution]())
			list = append(list, m)
			continue
		}
		held := f.Type
		if held.Kind() == reflect.Pointer {
			held = held.Elem()
		}
		if held.Kind() != reflect.Struct || !f.IsExported() {
			continue
		}
		for _, m := range MetricsOf(held) {
			m.field = append([]int{i}, m.field...)
			list = append(list, m)
		}
	}
	return list
}

// IsCounter says that the metric only rises while the crawl runs.
func (m *Metric) IsCounter() bool { return strings.HasSuffix(m.Name, "_total") }

// IsHistogram says that the metric is a histogram: EachDistribution visits it, and Each does not.
func (m *Metric) IsHistogram() bool { return m.distribution }

// EachDistribution visits the histogram in a report, with the value of its label.
func (m *Metric) EachDistribution(report reflect.Value, visit func(s histogram.Snapshot, labels ...string)) {
	v, err := report.FieldByIndexErr(m.field)
	if err != nil {
		return
	}
	d, ok := v.Addr().Interface().(distribution)
	switch {
	case !ok:
	case m.Label == "":
		visit(d.Load())
	default:
		visit(d.Load(), m.value)
	}
}

// Each visits the numbers of the metric in a report, which is given as a value: one for each value of the label, or one
// alone. There are none if the report has no such part.
func (m *Metric) Each(report reflect.Value, visit func(value float64, labels ...string)) {
	v, err := report.FieldByIndexErr(m.field)
	if err != nil || m.distribution {
		return // a part that is nil, such as that of the other agents
	}
	if m.Label == "" {
		visit(number(v))
		return
	}
	for _, key := range v.MapKeys() {
		visit(number(v.MapIndex(key)), key.String())
	}
}

func number(v reflect.Value) float64 {
	if v.CanFloat() {
		return v.Float()
	}
	return float64(v.Int())
}
