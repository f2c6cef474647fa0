// A table of which only the rows in its window are elements: a log has a hundred thousand rows.

const LIST_ROW = 26; // pixels, as in page.css
const PRINTED_ROWS = 200;

class List {
    // columns: [{id, title, numeric, width, cell(row) -> text or element, hint, minor}]; minor ones
    // are left out where it is narrow. calls: {sort(id), open(row), key(event, row, index)}
    constructor(host, label, columns, calls) {
        this.calls = calls;
        this.rows = [];
        this.current = 0;
        this.printing = false;
        this.head = el('div', {class: 'list-head', role: 'row'});
        this.spacer = el('div', {class: 'spacer', role: 'rowgroup'});
        this.body = el('div', {class: 'list-body', role: 'presentation'}, this.spacer);
        this.grid = el('div', {class: 'list', role: 'grid', tabIndex: 0, 'aria-label': label,
                               onkeydown: event => this.key(event)}, this.head, this.body);
        this.body.addEventListener('scroll', () => this.draw());
        this.observer = new ResizeObserver(() => this.draw());
        this.observer.observe(this.body);
        host.append(this.grid);
        this.set(columns);
    }

    // Other columns; they are shown with the next rows.
    set(columns) {
        this.columns = columns;
        this.template = columns.map(column => column.width || 'minmax(0, 1fr)').join(' ');
        this.narrow = columns.filter(column => !column.minor).map(column => column.width || 'minmax(0, 1fr)').join(' ');
        this.grid.style.setProperty('--columns', this.template);
        this.grid.style.setProperty('--narrow', this.narrow);
    }

    dispose() {
        this.observer.disconnect();
    }

    show(rows, sorted) {
        this.rows = rows;
        this.current = Math.min(this.current, Math.max(0, rows.length - 1));
        this.grid.setAttribute('aria-rowcount', String(rows.length + 1));
        this.spacer.style.height = rows.length * LIST_ROW + 'px';
        replace(this.head, ...this.columns.map(column => this.heading(column, sorted)));
        this.draw();
    }

    heading(column, sorted) {
        const on = sorted && sorted.id === column.id;
        return el('div', {
            class: classesOf(column) + (on ? ' sorted' : ''), role: 'columnheader', title: column.hint || '',
            'aria-sort': on ? (sorted.down ? 'descending' : 'ascending') : null,
        }, this.calls.sort && column.id ? el('button', {type: 'button', onclick: () => this.calls.sort(column.id)},
            column.title, el('span', {class: 'arrow', 'aria-hidden': 'true'}, on ? (sorted.down ? ' ▼' : ' ▲') : ''))
            : column.title);
    }

    draw() {
        const first = this.printing ? 0 : Math.max(0, Math.floor(this.body.scrollTop / LIST_ROW) - 4);
        const shown = this.printing ? PRINTED_ROWS : Math.ceil(this.body.clientHeight / LIST_ROW) + 8;
        const rows = [];
        for (let i = first; i < Math.min(this.rows.length, first + shown); i++)
            rows.push(this.element(i));
        replace(this.spacer, ...rows);
        this.grid.setAttribute('aria-activedescendant', this.rows.length ? this.idOf(this.current) : '');
    }

    idOf(i) {
        return 'row' + i;
    }

    element(i) {
        const row = this.rows[i];
        const out = el('div', {
            class: 'list-row' + (i === this.current ? ' current' : '') + (row.mark ? ' ' + row.mark : ''),
            role: 'row', id: this.idOf(i), 'aria-rowindex': String(i + 2),
            'aria-level': row.level === undefined ? null : String(row.level + 1),
            'aria-expanded': row.open === undefined ? null : String(row.open),
            onclick: event => this.click(i, event),
        }, ...this.columns.map(column => el('div', {class: classesOf(column), role: 'gridcell'}, column.cell(row))));
        out.style.top = i * LIST_ROW + 'px';
        return out;
    }

    click(i, event) {
        this.current = i;
        this.draw();
        if (!event.target.closest('button, a'))
            this.calls.open(this.rows[i], i);
    }

    move(to) {
        this.current = Math.max(0, Math.min(this.rows.length - 1, to));
        const top = this.current * LIST_ROW;
        if (top < this.body.scrollTop)
            this.body.scrollTop = top;
        else if (top + LIST_ROW > this.body.scrollTop + this.body.clientHeight)
            this.body.scrollTop = top + LIST_ROW - this.body.clientHeight;
        this.draw();
    }

    key(event) {
        if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest('button, a, input'))
            return;
        const page = Math.max(1, Math.floor(this.body.clientHeight / LIST_ROW) - 1);
        const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
                       Home: -this.rows.length, End: this.rows.length};
        const row = this.rows[this.current];
        if (event.key in steps)
            this.move(this.current + steps[event.key]);
        else if (event.key === 'Enter' && row)
            this.calls.open(row, this.current);
        else if (!(row && this.calls.key && this.calls.key(event, row, this.current)))
            return;
        event.preventDefault();
    }

    // Rows for paper, where nothing scrolls. Returns: what to say of those that are left out.
    print(on) {
        this.printing = on;
        this.draw();
        const count = this.rows.length;
        return count > PRINTED_ROWS ? [`the first ${formatCount(PRINTED_ROWS)} of ${formatCount(count)} rows`] : [];
    }
}

function classesOf(column) {
    return 'cell' + (column.numeric ? ' numeric' : '') + (column.minor ? ' minor' : '') +
        (column.grow ? ' grow' : '');
}
