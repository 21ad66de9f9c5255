import { showText } from '../pure/show-text.js';

/**
 * @typedef {Node | string | null} Child
 * @typedef {Record<string, string | number | boolean | null | ((event: any) => void)>} Attributes `on…` listens; null and false leave out
 */

const SVG = 'http://www.w3.org/2000/svg';

/**
 * Makes an element. Text goes in as text, whatever stands in it.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  return filled(element, attributes, children);
}

/**
 * Makes an element of SVG.
 *
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function s(tag, attributes = {}, ...children) {
  const element = /** @type {SVGElementTagNameMap[Tag]} */ (document.createElementNS(SVG, tag));
  return filled(element, attributes, children);
}

/**
 * A name that somebody else chose: it cannot turn the text around it, and hides nothing.
 *
 * @param {string} name
 * @param {number} [longest]
 */
export function nameOf(name, longest) {
  return h('bdi', { class: 'name' }, showText(name, longest));
}

/** Says this text; touches nothing when it is said already. @param {Element} element @param {string} text */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets or, with `null`, takes away. @param {Element} element @param {string} name @param {string | number | null} value */
export function set(element, name, value) {
  if (value === null) return element.removeAttribute(name);
  if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

/**
 * @template {HTMLElement | SVGElement} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {E}
 */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}
