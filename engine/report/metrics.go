package report

import (
	"reflect"
	"strings"
)

// A Metric is a number of a report that is a metric, too. The tags of its field declare it: metric is its name, without
// the prefix orbweaver_ of all metrics, and help its help. The field of a metric with a label is a map, by the values
// of the label. A name that ends in _total is that of a counter, any other that of a gauge.
type Metric struct {
	Name, Help string
	Label      string // "" for a single number
	field      []int
}

// MetricsOf lists the metrics of a struct, and of the structs that it embeds or points to.
func MetricsOf(t reflect.Type) (list []Metric) {
	for i := range t.NumField() {
		f := t.Field(i)
		if name := f.Tag.Get("metric"); name != "" {
			list = append(list, Metric{name, f.Tag.Get("help"), f.Tag.Get("label"), []int{i}})
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

// Each visits the numbers of the metric in a report, which is given as a value: one for each value of the label, or one
// alone. There are none if the report has no such part.
func (m *Metric) Each(report reflect.Value, visit func(value float64, labels ...string)) {
	v, err := report.FieldByIndexErr(m.field)
	if err != nil {
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
