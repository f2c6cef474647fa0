// Elements by name; texts become text, never markup.

function el(name, properties, ...children) {
    const out = document.createElement(name);
    for (const [key, value] of Object.entries(properties || {})) {
        if (value === null || value === undefined || value === false)
            continue;
        if (key.startsWith('on'))
            out.addEventListener(key.slice(2), value);
        else if (key === 'class')
            out.className = value;
        else if (key in out && !key.startsWith('aria'))
            out[key] = value;
        else
            out.setAttribute(key, value === true ? '' : value);
    }
    out.append(...children.filter(child => child !== null && child !== undefined && child !== false));
    return out;
}

function replace(parent, ...children) {
    parent.replaceChildren(...children.filter(child => child !== null && child !== undefined && child !== false));
    return parent;
}

// heads: [[text, class of the column]...]; rows: of cells in their order, or elements.
function table(heads, rows, properties) {
    const cells = (name, texts, more) => el('tr', {}, ...texts.map((text, i) =>
        el(name, {...more, class: heads[i][1]}, text)));
    return el('table', properties, el('thead', {}, cells('th', heads.map(([text]) => text), {scope: 'col'})),
        el('tbody', {}, ...rows.map(row => Array.isArray(row) ? cells('td', row) : row)));
}

function button(text, title, onclick, properties) {
    return el('button', {type: 'button', title, onclick, ...properties}, text);
}

// Choices of which one is on: [[value, text, title]...].
function choices(label, options, chosen, choose) {
    return el('div', {class: 'choices', role: 'group', 'aria-label': label},
        ...options.map(([value, text, title]) => el('button', {
            type: 'button', title: title || '', 'aria-pressed': String(value === chosen),
            'data-value': String(value), onclick: () => choose(value)}, text)));
}

// A key that does something here does nothing else.
function take(event) {
    event.preventDefault();
    event.stopPropagation();
}

async function copyText(text) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        const area = el('textarea', {value: text, class: 'away', readOnly: true});
        document.body.append(area);
        area.select();
        const done = document.execCommand('copy');
        area.remove();
        return done;
    }
}

// A name that may be shortened at its end, and the line after it, which may not: "Basket.cs" ":12".
function nameParts(name) {
    const line = name.match(/^(.*)(:\d+(?:-\d+)?)$/);
    return line ? [el('span', {class: 'cut'}, line[1]), el('span', {class: 'keep'}, line[2])]
        : [el('span', {class: 'cut'}, name)];
}

// A bar of a cell: its length is a share.
function bar(share, family) {
    const inner = el('span', {class: 'bar-in ' + (family || '')});
    inner.style.width = Math.max(0, Math.min(100, share * 100)) + '%';
    return el('span', {class: 'bar', 'aria-hidden': 'true'}, inner);
}
