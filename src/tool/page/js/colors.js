// Colours of boxes: by whose code it is, or by what has grown. Text on each has a contrast of at
// least 4.5 to 1.

const SHADES = 5;

// Of each: in the light theme, and in the dark one.
const COLOURS = {
    page: ['#ffffff', '#0f1419'],
    ink: ['#1c2128', '#e6edf3'],
    own: [['#f0a04b', '#eda75a', '#f2ad62', '#ea9a43', '#f5b56f'],
          ['#9a5a12', '#935512', '#a26019', '#8c5010', '#a8661f']],
    package: [['#7fb8dc', '#8cc0e1', '#76b1d7', '#97c7e5', '#84bbde'],
              ['#215f86', '#27668e', '#1d597f', '#2c6d96', '#24638a']],
    framework: [['#ccd3da', '#d4dae0', '#c6ced6', '#d9dfe4', '#cfd6dd'],
                ['#3a434d', '#414b55', '#353e47', '#47515c', '#3d4751']],
    type: [['#a5cf8f', '#aed699', '#9dc986', '#b6dba3', '#a9d294'],
           ['#3c6a2a', '#427230', '#376325', '#487a36', '#3f6e2d']],
    other: [Array(SHADES).fill('#e4e0d4'), Array(SHADES).fill('#4a463a')],
    grew: [['#fbe3df', '#f7bfb6', '#f09a8d', '#e87767'],
           ['#3f2a28', '#6b322b', '#8f3429', '#a9392b']],
    shrank: [['#e0ebfa', '#b9d3f3', '#92b9ea', '#6ea0e0'],
             ['#243141', '#25456c', '#24558f', '#2462ad']],
    match: ['#d63af9', '#e28bff'],
    matchFill: ['#f4b8ff', '#7a2f91'],
    selected: ['#0a3069', '#ffffff'],
    bar: ['#0f6cbd', '#4ea3e8'],
    range: ['rgba(15, 108, 189, 0.16)', 'rgba(78, 163, 232, 0.25)'],
};

const themeOf = which => Object.fromEntries(Object.entries(COLOURS).map(([name, both]) => [name, both[which]]));
const THEMES = {light: themeOf(0), dark: themeOf(1)};

function shade(text) {
    let hash = 0;
    for (let i = 0; i < text.length; i++)
        hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    return ((hash >>> 8) & 0xffff) % SHADES;
}

// The kind of each place, as the legend names it.
function familyOf(log, place) {
    if (place >= log.places.count)
        return 'framework';
    switch (log.places.kind[place]) {
    case KIND.TYPE:
        return 'type';
    case KIND.METHOD:
        return ['framework', 'package', 'own'][log.owner[place]];
    case KIND.FOLDED:
        return 'framework';
    default:
        return 'other';
    }
}

// One of the theme's fills for each place.
class Fills {
    constructor(log, groups) {
        this.log = log;
        this.groups = groups;
        this.family = [];
        this.shade = new Uint8Array(log.places.count + groups.names.length);
        for (let place = 0; place < this.shade.length; place++)
            this.learn(place);
    }

    learn(place) {
        this.family[place] = familyOf(this.log, place);
        if (place < this.shade.length)
            this.shade[place] = shade(labelOf(this.log, this.groups, place).slice(0, 40));
    }

    of(place, theme) {
        if (!this.family[place])
            this.learn(place);
        return theme[this.family[place]][this.shade[place] || 0];
    }
}

// How strongly something has changed: 0 hardly to 3.
function strengthOf(before, now) {
    const most = Math.max(before, now);
    const share = most ? Math.abs(now - before) / most : 0;
    return share < 0.02 ? 0 : share < 0.15 ? 1 : share < 0.5 ? 2 : 3;
}

function changeFill(before, now, theme) {
    const strength = strengthOf(before, now);
    if (before === now)
        return theme.framework[0];
    return (now > before ? theme.grew : theme.shrank)[strength];
}

function labelOf(log, groups, place, frames) {
    if (place < log.places.count)
        return place ? log.name(place) : '(all)';
    const name = groups.names[place - log.places.count];
    return frames > 1 ? `[${name}, ${frames} frames]` : frames === 1 ? `[${name}, 1 frame]` : `[${name}]`;
}
